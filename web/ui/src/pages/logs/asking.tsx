/** Which container, from where on, and which of its lives. */
import FormField from "@cloudscape-design/components/form-field";
import Grid from "@cloudscape-design/components/grid";
import Input from "@cloudscape-design/components/input";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import { type KeyboardEvent, useState } from "react";
import type { ContainerView, PodView } from "../../api/schema";
import { t } from "../../texts";
import { type From, momentOf, type Wish } from "./question";

interface AskingProps {
  readonly pod: PodView | undefined;
  readonly container: string | undefined;
  readonly wish: Wish;
  readonly onChange: (wish: Wish) => void;
}

const words = t.logs;
const STARTS = Object.entries(words.starts).map(([value, label]) => ({ value, label }));

export function Asking({ pod, container, wish, onChange }: AskingProps) {
  const containers = (pod?.containers ?? []).map(optionOf);
  const chosen = pod?.containers.find(({ name }) => name === container);
  const hadOneBefore = wish.isPast || (chosen?.restarts ?? 0) > 0;
  return (
    <Grid gridDefinition={[SPAN, SPAN, ...(wish.from === "at" ? [SPAN] : []), ...(hadOneBefore ? [SPAN] : [])]}>
      <FormField label={words.container}>
        <Select
          selectedOption={containers.find(({ value }) => value === container) ?? null}
          options={containers}
          disabled={containers.length === 0}
          placeholder={container ?? t.common.unknown}
          onChange={({ detail }) => onChange({ ...wish, container: detail.selectedOption.value })}
        />
      </FormField>
      <FormField label={words.from}>
        <Select
          selectedOption={STARTS.find(({ value }) => value === wish.from) ?? null}
          options={STARTS}
          onChange={({ detail }) => onChange({ ...wish, from: detail.selectedOption.value as From })}
        />
      </FormField>
      {wish.from === "at" && <At wish={wish} onChange={onChange} />}
      {hadOneBefore && (
        <FormField label={words.life}>
          <SegmentedControl
            label={words.life}
            selectedId={wish.isPast ? "before" : "now"}
            options={[
              { id: "now", text: words.lives.now },
              { id: "before", text: words.lives.before },
            ]}
            onChange={({ detail }) => onChange({ ...wish, isPast: detail.selectedId === "before" })}
          />
        </FormField>
      )}
    </Grid>
  );
}

const SPAN = { colspan: { default: 6, s: 3 } } as const;

/** Taken when somebody leaves the field or presses Enter: each letter would begin another reading. */
function At({ wish, onChange }: Pick<AskingProps, "wish" | "onChange">) {
  const [text, setText] = useState(wish.at);
  const [isTried, setTried] = useState(wish.at !== "");
  const isBad = isTried && momentOf(text) === null;
  function take() {
    setTried(text !== "");
    if (momentOf(text) !== null && text !== wish.at) onChange({ ...wish, at: text.trim() });
  }
  return (
    <FormField label={words.at} constraintText={words.atHint} errorText={isBad ? words.atBad : undefined}>
      <Input
        value={text}
        autoComplete={false}
        spellcheck={false}
        placeholder="2026-03-01T10:00:00Z"
        onChange={({ detail }) => setText(detail.value)}
        onBlur={take}
        onKeyDown={({ detail }: { readonly detail: Pick<KeyboardEvent, "key"> }) => {
          if (detail.key === "Enter") take();
        }}
      />
    </FormField>
  );
}

function optionOf({ name, state, init }: ContainerView) {
  return { value: name, label: name, tags: [state, ...(init ? [words.init] : [])] };
}
