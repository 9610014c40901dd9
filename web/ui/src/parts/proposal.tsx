/**
 * A small form that proposes a change: what its edits are says the form around it; why, and where it leads, is here.
 * It is told at once what was found wrong, and after it was opened the change's own page is shown.
 */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Modal, { type ModalProps } from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { type FormEvent, type ReactNode, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../api/client";
import type { NewChange } from "../api/schema";
import { ProblemAlert } from "../frame/problem-alert";
import { t } from "../texts";

export type Edit = NewChange["edits"][number];

export interface ProposalProps {
  readonly heading: string;
  /** The change's title. */
  readonly title: string;
  /** The revision that the form was filled from: who changed the same since then is told. */
  readonly base?: string;
  /** Asked for when the form is sent; null: something in it is wrong, and shown. */
  readonly edits: () => readonly Edit[] | null;
  readonly onClose: () => void;
  readonly size?: ModalProps.Size;
  readonly children: ReactNode;
}

const FORM = "proposal";

/** Opens a change and shows it. */
export function useProposing() {
  const navigate = useNavigate();
  return api.useMutation("post", "/api/v1/changes", {
    onSuccess: (change) => void navigate(`/changes/${change.id}`),
  });
}

export function Proposal({ heading, title, base, edits, onClose, size, children }: ProposalProps) {
  const [why, setWhy] = useState("");
  const proposing = useProposing();

  function submit(event: FormEvent) {
    event.preventDefault();
    const found = edits();
    if (found === null) return;
    proposing.mutate({ body: { title, why: why.trim(), base: base ?? null, edits: [...found], direct: false } });
  }

  return (
    <Modal
      visible
      size={size}
      onDismiss={onClose}
      header={heading}
      closeAriaLabel={t.common.close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button variant="primary" form={FORM} formAction="submit" loading={proposing.isPending}>
              {t.proposal.propose}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <SpaceBetween size="l">
          {proposing.isError && <ProblemAlert error={proposing.error} />}
          {children}
          <Why value={why} onChange={setWhy} />
          <Alert type="info">{t.proposal.nothing}</Alert>
        </SpaceBetween>
      </form>
    </Modal>
  );
}

export function Why({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  return (
    <FormField
      label={
        <>
          {t.proposal.why} <i>- {t.proposal.optional}</i>
        </>
      }
      constraintText={t.proposal.whyHint}
      stretch
    >
      <Textarea value={value} rows={2} onChange={({ detail }) => onChange(detail.value)} />
    </FormField>
  );
}
