/** How reading goes, in a line: whether lines come, since when not, why nothing more comes, and what was let go. */
import Box from "@cloudscape-design/components/box";
import LiveRegion from "@cloudscape-design/components/live-region";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { exact } from "../../parts/times";
import { t } from "../../texts";
import type { ReaderState } from "./reader";

const words = t.logs;

export function ReadingState({
  state,
  count,
  dropped,
}: {
  readonly state: Exclude<ReaderState, { kind: "refused" }>;
  readonly count: number;
  readonly dropped: number;
}) {
  const { type, text } = signOf(state);
  return (
    <div className="log-state">
      <LiveRegion tagName="span">
        <StatusIndicator type={type} wrapText>
          {text}
        </StatusIndicator>
      </LiveRegion>
      <Box variant="span" color="text-body-secondary">
        {words.lines(count)}
      </Box>
      {dropped > 0 && (
        <Box variant="span" color="text-status-warning">
          {words.dropped(dropped)} {words.droppedWay}
        </Box>
      )}
    </div>
  );
}

export function signOf(state: Exclude<ReaderState, { kind: "refused" }>): {
  readonly type: StatusIndicatorProps.Type;
  readonly text: string;
} {
  switch (state.kind) {
    case "opening":
      return { type: "loading", text: words.states.opening };
    case "open":
      return { type: "success", text: words.states.open };
    case "waiting":
      return { type: "pending", text: words.states.waiting(state.reason) };
    case "lost":
      return { type: "warning", text: words.states.lost(exact(state.since), state.why) };
    case "paused":
      return { type: "stopped", text: state.isFull ? words.states.full : words.states.paused };
    case "ended":
      if (state.reason === "PodGone") return { type: "stopped", text: words.states.gone };
      if (state.reason === "" && state.exitCode === null) return { type: "stopped", text: words.states.past };
      return {
        type: state.exitCode === null || state.exitCode === 0 ? "stopped" : "error",
        text: words.states.ended(state.reason, state.exitCode),
      };
  }
}
