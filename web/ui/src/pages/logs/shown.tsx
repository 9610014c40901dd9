/** A log that is read: how reading goes, what is searched in it, and its lines. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import LiveRegion from "@cloudscape-design/components/live-region";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TextFilter from "@cloudscape-design/components/text-filter";
import Toggle from "@cloudscape-design/components/toggle";
import { useMemo, useRef, useState } from "react";
import { ProblemAlert } from "../../frame/problem-alert";
import { useKept } from "../../parts/kept";
import { usePhone } from "../../parts/phone";
import { t } from "../../texts";
import type { Log } from "./log";
import { Matches, step } from "./matches";
import { ReadingState } from "./reading-state";
import { save } from "./save";
import { View, type ViewHandle } from "./view";

interface ShownProps {
  readonly log: Log;
  readonly name: string;
  readonly container: string;
  /** Whether it begins at a time, not with the last lines. */
  readonly hasTimeLimit: boolean;
  readonly onAgain: () => void;
}

const words = t.logs;

export function Shown({ log, name, container, hasTimeLimit, onAgain }: ShownProps) {
  const isPhone = usePhone();
  const [look, setLook] = useKept(isPhone ? "logs phone" : "logs", { wrap: true, times: !isPhone });
  const [text, setText] = useState("");
  const needle = text.trim();
  const [isOnly, setOnly] = useState(false);
  const [current, setCurrent] = useState<number | null>(null);
  const [seenEnd, setSeenEnd] = useState<number | null>(null); // where the newest line was when the view left the end
  const view = useRef<ViewHandle>(null);
  const { lines, state } = log;
  const version = log.version();
  const matches = useMemo(() => (needle === "" ? null : new Matches(lines, needle)), [lines, needle]);
  matches?.update();
  const numbers = matches?.numbers ?? NONE;
  const found = current === null ? -1 : numbers.indexOf(current);
  const shown = isOnly && matches !== null ? numbers : null;

  function go(way: 1 | -1) {
    const next = step(numbers, current, way);
    setCurrent(next);
    if (next !== null) view.current?.show(next);
  }

  function onEnd(isAtEnd: boolean) {
    setSeenEnd(isAtEnd ? null : lines.end);
  }

  const isOver = state.kind === "ended" || state.kind === "refused";
  return (
    <SpaceBetween size="s">
      <div className="log-tools">
        <search
          className="log-search"
          onKeyDown={(event) => {
            if (event.key !== "Enter" || needle === "") return;
            event.preventDefault();
            go(event.shiftKey ? -1 : 1);
          }}
        >
          <TextFilter
            filteringText={text}
            filteringPlaceholder={words.find}
            filteringAriaLabel={words.find}
            filteringClearAriaLabel={t.common.clearFilter}
            countText={needle === "" ? "" : words.found(found < 0 ? null : found + 1, numbers.length)}
            onChange={({ detail }) => {
              setText(detail.filteringText);
              setCurrent(null);
            }}
          />
        </search>
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <Button
            iconName="angle-up"
            ariaLabel={words.previous}
            disabled={numbers.length === 0}
            onClick={() => go(-1)}
          />
          <Button iconName="angle-down" ariaLabel={words.next} disabled={numbers.length === 0} onClick={() => go(1)} />
          <Toggle checked={isOnly} disabled={needle === ""} onChange={({ detail }) => setOnly(detail.checked)}>
            {words.only}
          </Toggle>
        </SpaceBetween>
        <div className="log-deeds">
          <SpaceBetween direction="horizontal" size="xs">
            {isOver ? (
              <Button iconName="refresh" onClick={onAgain}>
                {words.again}
              </Button>
            ) : state.kind === "paused" ? (
              <Button iconName="play" variant="primary" onClick={() => log.resume()}>
                {words.resume}
              </Button>
            ) : (
              <Button iconName="pause" onClick={() => log.pause()}>
                {words.pause}
              </Button>
            )}
            <Button
              iconName="download"
              ariaLabel={`${words.download}: ${words.downloadMeans(lines.count)}`}
              disabled={lines.count === 0}
              onClick={() => save(`${name}-${container}.log`, lines.text())}
            >
              {isPhone ? undefined : words.download}
            </Button>
            <ButtonDropdown
              ariaLabel={words.view}
              variant="icon"
              expandToViewport
              items={[
                { id: "wrap", itemType: "checkbox", text: words.wrap, checked: look.wrap },
                { id: "times", itemType: "checkbox", text: words.times, checked: look.times },
              ]}
              onItemClick={({ detail }) => setLook({ ...look, [detail.id]: detail.checked === true })}
            />
          </SpaceBetween>
        </div>
      </div>
      {state.kind === "refused" ? (
        <ProblemAlert error={state.problem} title={words.refused} onRetry={onAgain} />
      ) : (
        <ReadingState state={state} count={lines.count} dropped={lines.first} />
      )}
      <div className="log-place">
        <View
          handle={view}
          log={log}
          version={version}
          label={words.label(name, container)}
          shown={shown}
          needle={needle}
          current={current}
          isWrapped={look.wrap}
          hasTimes={look.times}
          onEnd={onEnd}
        />
        {lines.count === 0 && (state.kind === "open" || (state.kind === "ended" && state.reason !== "PodGone")) && (
          <Empty text={hasTimeLimit ? words.noLinesFrom : words.noLines} />
        )}
        {shown?.length === 0 && lines.count > 0 && <Empty text={words.noneMatch} />}
        {seenEnd !== null && lines.count > 0 && (
          <div className="log-newest">
            <Button iconName="angle-down" onClick={() => view.current?.toEnd()}>
              {words.newest(lines.end - Math.max(seenEnd, lines.first))}
            </Button>
          </div>
        )}
      </div>
      <LiveRegion hidden>
        {found >= 0 && current !== null ? `${words.found(found + 1, numbers.length)}: ${lines.at(current)?.text}` : ""}
      </LiveRegion>
    </SpaceBetween>
  );
}

const NONE: readonly number[] = [];

function Empty({ text }: { readonly text: string }) {
  return (
    <div className="log-empty">
      <Box color="text-body-secondary">{text}</Box>
    </div>
  );
}
