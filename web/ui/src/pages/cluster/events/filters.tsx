/** Which events are shown: by level, source, group and node. */
import FormField from "@cloudscape-design/components/form-field";
import Grid from "@cloudscape-design/components/grid";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import Select from "@cloudscape-design/components/select";
import { useEffect, useState } from "react";
import { t } from "../../../texts";
import { instanceOf, LEVELS, type Level, SOURCES, type Source, type Wish } from "./wish";

interface FiltersProps {
  readonly wish: Wish;
  readonly groups: readonly string[];
  readonly onChange: (wish: Wish) => void;
}

const words = t.happenings;
const SPAN = { colspan: { default: 6, s: 3 } } as const;
const levels = LEVELS.map((value) => ({ value, label: words.levels[value] }));
const sources = [
  { value: "", label: words.anySource },
  ...SOURCES.map((value) => ({ value, label: words.sources[value] })),
];

export function Filters({ wish, groups, onChange }: FiltersProps) {
  const named = [...new Set([...groups, ...(wish.group ? [wish.group] : [])])];
  const groupOptions = [{ value: "", label: words.anyGroup }, ...named.map((value) => ({ value, label: value }))];
  return (
    <Grid gridDefinition={[SPAN, SPAN, SPAN, SPAN]}>
      <FormField label={words.level}>
        <Multiselect
          selectedOptions={levels.filter(({ value }) => wish.levels.includes(value))}
          options={levels}
          placeholder={words.anyLevel}
          inlineTokens
          onChange={({ detail }) =>
            onChange({ ...wish, levels: detail.selectedOptions.map(({ value }) => value as Level) })
          }
        />
      </FormField>
      <FormField label={words.source}>
        <Select
          selectedOption={sources.find(({ value }) => value === (wish.source ?? "")) ?? null}
          options={sources}
          onChange={({ detail }) => {
            const source = detail.selectedOption.value;
            onChange({ ...wish, source: source ? (source as Source) : undefined });
          }}
        />
      </FormField>
      <FormField label={words.group}>
        <Select
          selectedOption={groupOptions.find(({ value }) => value === (wish.group ?? "")) ?? null}
          options={groupOptions}
          onChange={({ detail }) => onChange({ ...wish, group: detail.selectedOption.value || undefined })}
        />
      </FormField>
      <NodeField wish={wish} onChange={onChange} />
    </Grid>
  );
}

/** Asked for as soon as it is an id, or empty again. */
function NodeField({ wish, onChange }: Omit<FiltersProps, "groups">) {
  const [text, setText] = useState(wish.node);
  const [isLeft, setLeft] = useState(wish.node !== "");
  useEffect(() => setText(wish.node), [wish.node]);
  const isBad = isLeft && text.trim() !== "" && instanceOf(text) === null;
  return (
    <FormField label={words.node} errorText={isBad ? words.nodeBad : undefined}>
      <Input
        value={text}
        type="search"
        placeholder={words.nodeHint}
        autoComplete={false}
        spellcheck={false}
        clearAriaLabel={t.common.clearFilter}
        onBlur={() => setLeft(true)}
        onChange={({ detail: { value } }) => {
          setText(value);
          const node = instanceOf(value) ?? "";
          if (node !== wish.node && (node !== "" || value.trim() === "")) onChange({ ...wish, node });
        }}
      />
    </FormField>
  );
}
