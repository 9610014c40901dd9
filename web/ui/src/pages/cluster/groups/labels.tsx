/** Labels on a group's nodes: only those that become different are sent. */
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { GroupView } from "../../../api/schema";
import { Absent } from "../../../parts/card";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { isLabelValue, keyFlaw, type Label, labelled } from "./edits";
import { specOf, useWritten } from "./written";

interface LabelsProps {
  readonly cluster: string;
  readonly group: GroupView;
  readonly onClose: () => void;
}

const words = t.groups.labels;

export function Labels({ cluster, group, onClose }: LabelsProps) {
  const written = useWritten(cluster, "InstanceGroup", group.name);
  const before = written.data && labelsOf(specOf(written.data.document).labels);
  const [edited, setEdited] = useState<readonly Label[] | null>(null);
  const [isTried, setTried] = useState(false);
  const rows = edited ?? Object.entries(before ?? {}).map(([key, value]) => ({ key, value }));
  const isWrong = rows.some((label) => keyFlaw(label, rows) !== null || !isLabelValue(label.value));
  const edit = written.data === undefined ? null : labelled(cluster, group.name, before, rows);
  const set = (index: number, more: Partial<Label>) =>
    setEdited(rows.map((row, place) => (place === index ? { ...row, ...more } : row)));

  function edits() {
    setTried(true);
    return isWrong || edit === null ? null : [edit];
  }

  return (
    <Proposal
      heading={words.title(group.name)}
      title={words.change(group.name)}
      base={written.data?.revision}
      edits={edits}
      onClose={onClose}
    >
      {written.data === undefined ? (
        <Absent error={written.error} onRetry={() => void written.refetch()} />
      ) : (
        <FormField errorText={isTried && !isWrong && edit === null ? words.same : undefined} stretch>
          <AttributeEditor
            items={rows}
            addButtonText={words.add}
            removeButtonText={words.remove}
            removeButtonAriaLabel={(row) => `${words.remove} ${row.key}`}
            empty={words.none}
            onAddButtonClick={() => setEdited([...rows, { key: "", value: "" }])}
            onRemoveButtonClick={({ detail }) => setEdited(rows.filter((_, place) => place !== detail.itemIndex))}
            definition={[
              {
                label: words.key,
                control: ({ key }, index) => (
                  <Input value={key} onChange={({ detail }) => set(index, { key: detail.value })} />
                ),
                errorText: (row) => (isTried ? keyText(keyFlaw(row, rows)) : undefined),
              },
              {
                label: words.value,
                control: ({ value }, index) => (
                  <Input value={value} onChange={({ detail }) => set(index, { value: detail.value })} />
                ),
                errorText: ({ value }) => (isTried && !isLabelValue(value) ? words.valueBad : undefined),
              },
            ]}
          />
        </FormField>
      )}
    </Proposal>
  );
}

function keyText(flaw: ReturnType<typeof keyFlaw>): string | undefined {
  return flaw === null ? undefined : flaw === "twice" ? words.twice : words.keyBad;
}

function labelsOf(value: unknown): Record<string, string> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, string>) : undefined;
}
