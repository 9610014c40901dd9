/** The stages of building, each with how far it is, since when, what it waits for, and another try where it failed. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Steps, { type StepsProps } from "@cloudscape-design/components/steps";
import { useState } from "react";
import type { ClusterView, ProgressView } from "../../api/schema";
import { useSession } from "../../api/session";
import { Ago } from "../../parts/times";
import { t } from "../../texts";
import { GiveOrder } from "./order";

const SIGNS: Readonly<Record<string, StepsProps.Status>> = {
  Ready: "success",
  Progressing: "in-progress",
  Waiting: "pending",
  Failed: "error",
};
const words = t.cluster.stages;

export function Stages({ view: { cluster, stages, held } }: { readonly view: ClusterView }) {
  const [retried, setRetried] = useState<string | null>(null);
  const isHeld = ({ state, reason }: ProgressView) => state === "Waiting" && held.some((one) => one.reason === reason);
  if (stages.length === 0) return <Box color="text-body-secondary">{words.none}</Box>;
  return (
    <>
      <Steps
        ariaLabel={words.steps}
        steps={stages.map((stage) => ({
          status: SIGNS[stage.state] ?? "info",
          statusIconAriaLabel: words.states[stage.state] ?? stage.state,
          header: <Head stage={stage} isHeld={isHeld(stage)} />,
          details: <Details stage={stage} onRetry={() => setRetried(stage.stage)} />,
        }))}
      />
      {retried !== null && (
        <GiveOrder
          cluster={cluster}
          order="retry"
          subjects={[retried]}
          says={[t.stages[retried] ?? retried]}
          onDone={() => setRetried(null)}
        />
      )}
    </>
  );
}

interface HeadProps {
  readonly stage: ProgressView;
  readonly isHeld: boolean;
}

function Head({ stage: { stage, done, all, state, since }, isHeld }: HeadProps) {
  return (
    <>
      <strong>{t.stages[stage] ?? stage}</strong>{" "}
      <Box variant="span" color="text-body-secondary">
        {isHeld ? t.cluster.held.title : (words.states[state] ?? state)}
        {done != null && all != null && `, ${words.count(done, all)}`}
        {since && (
          <>
            , <Ago at={since} />
          </>
        )}
      </Box>
    </>
  );
}

function Details({ stage, onRetry }: { readonly stage: ProgressView; readonly onRetry: () => void }) {
  const { may } = useSession();
  const { state, reason, message, done, all, waits_for, expected } = stage;
  if (state === "Ready") return null;
  const isCounted = done != null && all != null && all > 0 && state === "Progressing";
  return (
    <SpaceBetween size="xs">
      {isCounted && (
        <ProgressBar
          value={(done / all) * 100}
          ariaLabel={t.stages[stage.stage] ?? stage.stage}
          additionalInfo={expected ? words.expected(minutes(expected.least), minutes(expected.most)) : undefined}
        />
      )}
      {message !== "" && <div className="wrap-anywhere">{message}</div>}
      {waits_for.length > 0 && state !== "Waiting" && (
        <div>
          <Box variant="small">{words.waits}</Box>
          <ul className="plain-list wrap-anywhere">
            {waits_for.map(({ key, name, progress, message: why, held }) => (
              <li key={key}>
                {name}{" "}
                <Box variant="span" color="text-body-secondary">
                  {key.split("/", 1)[0]}
                </Box>
                {progress && ` (${progress})`}
                {why && `: ${why}`}
                {held && `: ${words.held}`}
              </li>
            ))}
          </ul>
        </div>
      )}
      {state === "Failed" && reason !== "OutcomeUnknown" && (
        <Button
          onClick={onRetry}
          disabled={!may("operate")}
          disabledReason={t.common.missingScope("operate")}
          ariaLabel={`${t.cluster.orders.do.retry}: ${t.stages[stage.stage] ?? stage.stage}`}
        >
          {t.cluster.orders.do.retry}
        </Button>
      )}
    </SpaceBetween>
  );
}

function minutes(seconds: number): string {
  return words.minutes(Math.round(seconds / 60));
}
