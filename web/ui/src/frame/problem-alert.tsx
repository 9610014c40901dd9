/** A problem as a person reads it: what it is, why, what is wrong where, and what can be done. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { lazy, type ReactNode, Suspense } from "react";
import { asProblem, isPassing, UNREACHABLE } from "../api/problems";
import type { Problem } from "../api/schema";
import { Loading } from "../parts/loading";
import { t } from "../texts";

// A table; most problems have none.
const Conflicts = lazy(async () => ({ default: (await import("../parts/conflicts")).Conflicts }));

export interface ProblemAlertProps {
  readonly error: unknown;
  /** What was tried, if the problem's own title does not say. */
  readonly title?: string;
  readonly onRetry?: () => void;
  readonly onDismiss?: () => void;
  readonly children?: ReactNode;
}

export function ProblemAlert({ error, title, onRetry, onDismiss, children }: ProblemAlertProps) {
  const problem = asProblem(error);
  const wayOut = problem.way_out ?? (problem.reason === UNREACHABLE ? t.problems.unreachableWay : undefined);
  return (
    <Alert
      type={isPassing(problem) ? "warning" : "error"}
      header={title ?? titleOf(problem)}
      dismissible={onDismiss !== undefined}
      onDismiss={onDismiss}
      action={onRetry && <Button onClick={onRetry}>{t.common.retry}</Button>}
    >
      <SpaceBetween size="xs">
        {problem.detail && <div>{problem.detail}</div>}
        {problem.errors?.length ? (
          <ul className="plain-list">
            {problem.errors.map((flaw) => (
              <li key={`${flaw.where} ${flaw.expected}`}>
                <Box variant="code">{flaw.where}</Box> {t.problems.expectedFound(flaw.expected, flaw.found)}
                {flaw.hint ? `. ${flaw.hint}` : ""}
              </li>
            ))}
          </ul>
        ) : null}
        {problem.conflicts?.length ? (
          <Suspense fallback={<Loading />}>
            <Conflicts found={problem.conflicts} />
          </Suspense>
        ) : null}
        {wayOut && (
          <div>
            <strong>{t.problems.wayOut}:</strong> {wayOut}
          </div>
        )}
        {children}
      </SpaceBetween>
    </Alert>
  );
}

export function titleOf(problem: Problem): string {
  return t.problems.titles[problem.reason] ?? t.problems.statuses[problem.status] ?? t.problems.other;
}
