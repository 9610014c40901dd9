/** A reboot as a change with an Operation, after what it means for what runs there. */
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import type { NodeView } from "../../api/schema";
import { useEngineNow } from "../../live/engine-clock";
import { Proposal } from "../../parts/proposal";
import { t } from "../../texts";
import { rebooted } from "./groups/edits";

interface RebootProps {
  readonly cluster: string;
  readonly node: NodeView;
  readonly onClose: () => void;
}

const HOUR = 3_600_000;
const HOURS = [1, 4, 24] as const;
const words = t.nodes.reboot;

export function Reboot({ cluster, node, onClose }: RebootProps) {
  const now = useEngineNow() ?? Date.now();
  const [hours, setHours] = useState<number>(4);
  return (
    <Proposal
      heading={words.title(node.id)}
      title={words.change(node.id)}
      edits={() => [rebooted(cluster, nameOf(node.instance, now), [node.instance], momentOf(now + hours * HOUR), "")]}
      onClose={onClose}
    >
      <Alert type="warning" header={words.text}>
        <ul className="plain-list">
          {words.means(node.pods ?? null, node.gpus_used ?? null).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Alert>
      <FormField label={words.expires}>
        <Select
          selectedOption={{ value: String(hours), label: words.hours(hours) }}
          options={HOURS.map((value) => ({ value: String(value), label: words.hours(value) }))}
          onChange={({ detail }) => setHours(Number(detail.selectedOption.value))}
        />
      </FormField>
    </Proposal>
  );
}

/** Never used before: the node, and the moment. */
export function nameOf(instance: string, now: number): string {
  return `reboot-${instance}-${momentOf(now).replace(/[-:]/g, "").toLowerCase()}`;
}

/** UTC to the second, as documents have it. */
function momentOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
