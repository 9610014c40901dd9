/** How many nodes: the one field that is sent. What cannot be changed stands below, with the way out. */
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { GroupView } from "../../../api/schema";
import { Absent } from "../../../parts/card";
import { countOf } from "../../../parts/machines/machine";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { scaled } from "./edits";
import { Fixed } from "./fixed";
import { specOf, useWritten } from "./written";

interface ScaleProps {
  readonly cluster: string;
  readonly group: GroupView;
  readonly onClose: () => void;
}

const words = t.groups.scale;

export function Scale({ cluster, group, onClose }: ScaleProps) {
  const written = useWritten(cluster, "InstanceGroup", group.name);
  const now = Number(written.data === undefined ? (group.desired?.count ?? 0) : specOf(written.data.document).count);
  const [text, setText] = useState<string | null>(null);
  const [isTried, setTried] = useState(false);
  const shown = text ?? String(now);
  const count = countOf(shown);
  const flaw = count === null ? t.machines.countBad : count === now ? words.same : undefined;

  function edits() {
    setTried(true);
    return flaw !== undefined || count === null ? null : [scaled(cluster, group.name, count)];
  }

  return (
    <Proposal
      heading={words.title(group.name)}
      title={words.change(group.name, now, count ?? now)}
      base={written.data?.revision}
      edits={edits}
      onClose={onClose}
    >
      {written.error ? <Absent error={written.error} onRetry={() => void written.refetch()} /> : null}
      <FormField label={words.count} constraintText={words.now(now)} errorText={isTried ? flaw : undefined}>
        <Input type="number" inputMode="numeric" value={shown} onChange={({ detail }) => setText(detail.value)} />
      </FormField>
      {count !== null && count < now && <Alert type="warning">{words.fewer}</Alert>}
      <Fixed group={group} />
    </Proposal>
  );
}
