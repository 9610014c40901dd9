/** A person's word to the engine, with the reason that the journal keeps. */
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client } from "../../api/client";
import type { NewOrder } from "../../api/schema";
import { orderId } from "../../live/news";
import { useNotices } from "../../live/notices";
import { Question } from "../../parts/question";
import { t } from "../../texts";

interface GiveOrderProps {
  readonly cluster: string;
  readonly order: NewOrder["do"];
  /** What it is about, for the API; several are one order each. */
  readonly subjects: readonly string[];
  /** The same in words. */
  readonly says: readonly string[];
  readonly onDone: () => void;
}

type Outcome = NonNullable<NewOrder["outcome"]>;
const words = t.cluster.orders;

export function GiveOrder({ cluster, order, subjects, says, onDone }: GiveOrderProps) {
  const { tell } = useNotices();
  const queries = useQueryClient();
  const [why, setWhy] = useState("");
  const [outcome, setOutcome] = useState<Outcome>("happened");
  const [isTried, setTried] = useState(false);
  const given = useRef<readonly string[]>([]); // if one is refused, the others are not given twice
  const give = useMutation({
    async mutationFn(body: Omit<NewOrder, "subject">) {
      for (const subject of subjects.filter((one) => !given.current.includes(one))) {
        await client.POST("/api/v1/orders", { body: { ...body, subject } });
        given.current = [...given.current, subject];
      }
    },
    onSuccess() {
      const id = orderId(cluster, subjects[0]);
      tell({ id, type: "success", header: words.do[order], content: words.done });
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/clusters/{cluster}"] });
      onDone();
    },
  });

  function yes() {
    setTried(true);
    if (!why.trim()) return;
    const more = order === "resolve" ? { outcome } : {};
    give.mutate({ cluster, do: order, why: why.trim(), ...more });
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
          {words.means[order]}
          <ul className="plain-list">
            {says.map((one) => (
              <li key={one}>
                <strong>{one}</strong>
              </li>
            ))}
          </ul>
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
