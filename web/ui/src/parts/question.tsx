/** A question before something is done: what it means, yes by a named button, no by every other way. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { ProblemAlert } from "../frame/problem-alert";
import { t } from "../texts";

export interface QuestionProps {
  readonly title: string;
  /** What is done, as a verb. */
  readonly yes: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
  readonly isPending?: boolean;
  /** Why the last yes did not work. */
  readonly error?: unknown;
  readonly children: ReactNode;
}

export function Question({ title, yes, onYes, onNo, isPending = false, error, children }: QuestionProps) {
  return (
    <Modal
      visible
      onDismiss={onNo}
      header={title}
      closeAriaLabel={t.common.close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onNo}>
              {t.common.cancel}
            </Button>
            <Button variant="primary" onClick={onYes} loading={isPending}>
              {yes}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {error ? <ProblemAlert error={error} /> : null}
        <div>{children}</div>
      </SpaceBetween>
    </Modal>
  );
}
