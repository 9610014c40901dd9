/** The question before something is done with a change: what it means, with the plan in short and words of one's own. */
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useState } from "react";
import { useNavigate } from "react-router";
import { client } from "../../api/client";
import type { ChangeView as Change } from "../../api/schema";
import { useNotices } from "../../live/notices";
import { Question } from "../../parts/question";
import { t } from "../../texts";
import type { Deed } from "./deeds";
import { useKeepChange } from "./keep";

interface AskProps {
  readonly deed: Deed;
  readonly change: Change;
  readonly onDone: () => void;
}

const WITH_WORDS: readonly Deed[] = ["approve", "object", "close", "revert"];

export function Ask({ deed, change, onDone }: AskProps) {
  const keep = useKeepChange();
  const navigate = useNavigate();
  const { tell } = useNotices();
  const [words, setWords] = useState("");
  const [isTried, setTried] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isMissing = deed === "object" && words.trim() === "";

  async function yes() {
    setTried(true);
    if (isMissing) return;
    setPending(true);
    setError(undefined);
    try {
      const found = await done(deed, change, words.trim());
      onDone();
      if (deed === "revert") {
        void navigate(`/changes/${found.id}`);
        return;
      }
      keep(found);
      const [first] = found.clusters;
      const link =
        deed === "merge" && first !== undefined
          ? { text: t.change.done.see(first), to: `/clusters/${first}` }
          : undefined;
      tell({ id: `change ${change.id}`, type: "success", header: change.title, content: t.change.done[deed], link });
    } catch (problem) {
      setError(problem);
      setPending(false);
    }
  }

  return (
    <Question
      title={t.change.asks[deed].title}
      yes={t.change.actions[deed]}
      isPending={isPending}
      error={error}
      onYes={() => void yes()}
      onNo={onDone}
    >
      <SpaceBetween size="m">
        <Meaning deed={deed} change={change} />
        {WITH_WORDS.includes(deed) && (
          <FormField
            stretch
            label={
              deed === "object" ? (
                t.change.asks.words
              ) : (
                <>
                  {t.change.asks.words} <i>- {t.change.asks.optional}</i>
                </>
              )
            }
            errorText={isTried && isMissing ? t.change.asks.wordsBad : undefined}
          >
            <Textarea value={words} rows={3} onChange={({ detail }) => setWords(detail.value)} />
          </FormField>
        )}
      </SpaceBetween>
    </Question>
  );
}

function Meaning({ deed, change }: { readonly deed: Deed; readonly change: Change }) {
  const says = change.checks.find(({ name }) => name === "plan")?.says ?? [];
  const list = (
    <ul className="plain-list wrap-anywhere">
      {says.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
  switch (deed) {
    case "merge":
      return (
        <div>
          {change.clusters.length > 0 ? t.change.asks.merge.text : t.change.asks.merge.nothing}
          {change.clusters.length > 0 && list}
        </div>
      );
    case "approve":
      return (
        <div>
          {t.change.asks.approve.text}
          {list}
        </div>
      );
    default:
      return <div>{t.change.asks[deed].text}</div>;
  }
}

/** Asks the API for it. Raises ProblemError. */
async function done(deed: Deed, change: Change, text: string): Promise<Change> {
  const params = { path: { change: change.id }, header: { "if-match": change.head } };
  const found = await (async () => {
    switch (deed) {
      case "approve":
        return client.POST("/api/v1/changes/{change}/reviews", {
          params,
          body: { verdict: "approve", text, plan: change.plan ?? null },
        });
      case "object":
        return client.POST("/api/v1/changes/{change}/reviews", { params, body: { verdict: "request-changes", text } });
      case "withdraw":
        return client.POST("/api/v1/changes/{change}/reviews", { params, body: { verdict: "withdraw", text } });
      case "merge":
        return client.POST("/api/v1/changes/{change}/merge", { params });
      case "close":
        return client.POST("/api/v1/changes/{change}/close", { params, body: { text } });
      case "rebase":
        return client.POST("/api/v1/changes/{change}/rebase", { params });
      case "revert":
        return client.POST("/api/v1/reverts", { body: { change: change.id, why: text } });
    }
  })();
  if (found.data === undefined) throw new Error("an answer without content");
  return found.data;
}
