/** What was said and done about a change, oldest first; which approvals count; and a word of one's own. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Textarea from "@cloudscape-design/components/textarea";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import type { ApprovalView, ChangeView as Change, ChangeEventView as Said } from "../../api/schema";
import { useSession } from "../../api/session";
import { ProblemAlert } from "../../frame/problem-alert";
import { Ago, exact } from "../../parts/times";
import { t } from "../../texts";
import { useKeepChange } from "./keep";

const words = t.change.talk;

export function Talk({ change }: { readonly change: Change }) {
  const { may } = useSession();
  return (
    <SpaceBetween size="l">
      {change.reviews.length > 0 && <Approvals reviews={change.reviews} />}
      {change.events.length === 0 && <Box color="text-body-secondary">{words.empty}</Box>}
      <ol className="bare-list">
        {change.events.map((said) => (
          <li key={said.seq}>
            <Event said={said} />
          </li>
        ))}
      </ol>
      {may("propose") ? <Comment id={change.id} /> : <Box>{t.common.missingScope("propose")}</Box>}
    </SpaceBetween>
  );
}

function Event({ said: { at, by, kind, what, text, on_behalf_of, verified } }: { readonly said: Said }) {
  const did = words.what[what] ?? words.update(what.replace(/^update: /, ""));
  return (
    <Box padding={{ vertical: "xs" }}>
      <div className="wrap-anywhere">
        <strong>{kind === "agent" ? t.change.facts.agent(by) : by}</strong>
        {on_behalf_of && ` ${words.onBehalf(on_behalf_of)}`} {did}{" "}
        <Box variant="span" color="text-body-secondary">
          <Ago at={at} />
        </Box>
      </div>
      {!verified && <StatusIndicator type="warning">{words.unverified}</StatusIndicator>}
      {text !== "" && what !== "merge" && <div className="wrap-anywhere written">{text}</div>}
    </Box>
  );
}

function Approvals({ reviews }: { readonly reviews: readonly ApprovalView[] }) {
  return (
    <SpaceBetween size="xs">
      <Header variant="h3">{words.reviews}</Header>
      {reviews.map(({ by, at, expires, actions, counts, why }) => (
        <div key={`${by} ${at}`} className="wrap-anywhere">
          <StatusIndicator type={counts ? "success" : "warning"}>
            {by}: {words.lets(actions)}, {words.until} {exact(expires)}
          </StatusIndicator>
          {!counts && (
            <Box variant="small" display="block">
              {words.void} {why}
            </Box>
          )}
        </div>
      ))}
    </SpaceBetween>
  );
}

function Comment({ id }: { readonly id: string }) {
  const keep = useKeepChange();
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const add = api.useMutation("post", "/api/v1/changes/{change}/comments", {
    onSuccess(found) {
      keep(found);
      setText("");
      setTried(false);
    },
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (text.trim()) add.mutate({ params: { path: { change: id } }, body: { text: text.trim() } });
  }

  return (
    <form onSubmit={submit}>
      <SpaceBetween size="s">
        {add.isError && <ProblemAlert error={add.error} />}
        <FormField label={words.comment} errorText={isTried && !text.trim() ? words.commentBad : undefined} stretch>
          <Textarea value={text} rows={3} onChange={({ detail }) => setText(detail.value)} />
        </FormField>
        <Button formAction="submit" loading={add.isPending}>
          {words.add}
        </Button>
      </SpaceBetween>
    </form>
  );
}
