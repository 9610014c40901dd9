/** A new Storage: its name, where the data is, and what pods may do with it. */
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { added, type Flaw, flawsOf, NEW, type StorageForm } from "./wish";

interface AddStorageProps {
  readonly cluster: string;
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

const words = t.storage.add;

export function AddStorage({ cluster, taken, onClose }: AddStorageProps) {
  const [form, setForm] = useState(NEW);
  const [isTried, setTried] = useState(false);
  const flaws = flawsOf(form, taken);
  const set = (change: Partial<StorageForm>) => setForm((before) => ({ ...before, ...change }));
  const told = (flaw: Flaw, text: string) => (isTried && flaws.has(flaw) ? text : undefined);

  function edits() {
    setTried(true);
    return flaws.size > 0 ? null : [added(cluster, form)];
  }

  return (
    <Proposal heading={words.title} title={words.change(form.name)} edits={edits} onClose={onClose}>
      <Field
        label={words.name}
        hint={words.nameHint}
        error={told("name", words.nameBad) ?? told("taken", words.nameTaken)}
        value={form.name}
        onChange={(name) => set({ name })}
      />
      <FormField label={words.bucket}>
        <RadioGroup
          value={form.isOwn ? "own" : "existing"}
          items={(["own", "existing"] as const).map((value) => ({
            value,
            label: words.kinds[value].label,
            description: words.kinds[value].text,
          }))}
          onChange={({ detail }) => set({ isOwn: detail.value === "own" })}
        />
      </FormField>
      {!form.isOwn && (
        <SpaceBetween size="l">
          <Field
            label={words.bucketName}
            error={told("bucket", words.bucketBad)}
            value={form.bucket}
            onChange={(bucket) => set({ bucket })}
          />
          <Field
            label={optional(words.prefix)}
            hint={words.prefixHint}
            error={told("prefix", words.prefixBad)}
            value={form.prefix}
            onChange={(prefix) => set({ prefix })}
          />
          <Field
            label={optional(words.region)}
            hint={words.regionHint}
            error={told("region", words.regionBad)}
            value={form.region}
            onChange={(region) => set({ region })}
          />
        </SpaceBetween>
      )}
      <Field
        label={optional(words.namespace)}
        hint={words.namespaceHint}
        error={told("namespace", words.namespaceBad)}
        placeholder="default"
        value={form.namespace}
        onChange={(namespace) => set({ namespace })}
      />
      <FormField label={words.access}>
        <SpaceBetween size="xs">
          <Checkbox checked={form.isReadOnly} onChange={({ detail }) => set({ isReadOnly: detail.checked })}>
            {words.readOnly}
          </Checkbox>
          <Checkbox
            checked={form.mayDelete && !form.isReadOnly}
            disabled={form.isReadOnly}
            onChange={({ detail }) => set({ mayDelete: detail.checked })}
          >
            {words.allowDelete}
          </Checkbox>
          <Checkbox
            checked={form.mayOverwrite && !form.isReadOnly}
            disabled={form.isReadOnly}
            onChange={({ detail }) => set({ mayOverwrite: detail.checked })}
          >
            {words.allowOverwrite}
          </Checkbox>
        </SpaceBetween>
      </FormField>
    </Proposal>
  );
}

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: string;
  readonly error: string | undefined;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ label, hint, error, placeholder, value, onChange }: FieldProps) {
  return (
    <FormField label={label} constraintText={hint} errorText={error}>
      <Input
        value={value}
        placeholder={placeholder}
        autoComplete={false}
        spellcheck={false}
        onChange={({ detail }) => onChange(detail.value)}
      />
    </FormField>
  );
}

function optional(label: string): ReactNode {
  return (
    <>
      {label} <i>- {t.proposal.optional}</i>
    </>
  );
}
