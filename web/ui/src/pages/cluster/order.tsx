/** A person's word to the engine, with the reason that the journal keeps. */
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { NewOrder } from "../../api/schema";
import { useNotices } from "../../live/notices";
import { Question } from "../../parts/question";
import { t } from "../../texts";

interface GiveOrderProps {
  readonly cluster: string;
  readonly order: NewOrder["do"];
  readonly subject: string;
  /** What it is about, in words. */
  readonly says: string;
  readonly onDone: () => void;
}

type Outcome = NonNullable<NewOrder["outcome"]>;
const words = t.cluster.orders;

export function GiveOrder({ cluster, order, subject, says, onDone }: GiveOrderProps) {
  const { tell } = useNotices();
  const queries = useQueryClient();
  const [why, setWhy] = useState("");
  const [outcome, setOutcome] = useState<Outcome>("happened");
  const [isTried, setTried] = useState(false);
  const give = api.useMutation("post", "/api/v1/orders", {
    onSuccess() {
      tell({ id: `order ${cluster} ${subject}`, type: "success", header: words.do[order], content: words.done });
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/clusters/{cluster}"] });
      onDone();
    },
  });

  function yes() {
    setTried(true);
    if (!why.trim()) return;
    const more = order === "resolve" ? { outcome } : {};
    give.mutate({ body: { cluster, do: order, subject, why: why.trim(), ...more } });
  }

  return (
    <Question
      title={words.asks[order]}
      yes={words.do[order]}
      isPending={give.isPending}
      error={give.error}
      onYes={yes}
      onNo={onDone}
    >
      <SpaceBetween size="m">
        <div className="wrap-anywhere">
          {words.means[order]} <strong>{says}</strong>
        </div>
        {order === "resolve" && (
          <FormField label={words.outcome}>
            <RadioGroup
              value={outcome}
              onChange={({ detail }) => setOutcome(detail.value as Outcome)}
              items={Object.entries(words.outcomes).map(([value, label]) => ({ value, label }))}
            />
          </FormField>
        )}
        <FormField
          label={words.why}
          constraintText={words.whyHint}
          errorText={isTried && !why.trim() ? words.whyBad : undefined}
          stretch
        >
          <Textarea value={why} rows={2} onChange={({ detail }) => setWhy(detail.value)} />
        </FormField>
      </SpaceBetween>
    </Question>
  );
}
