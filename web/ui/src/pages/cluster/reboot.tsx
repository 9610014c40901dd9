/** A reboot of one node or several as a change with an Operation, after what it means for what runs there. */
import Alert from "@cloudscape-design/components/alert";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
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
  readonly nodes: readonly [NodeView, ...NodeView[]];
  readonly onClose: () => void;
}

const HOUR = 3_600_000;
const HOURS = [1, 4, 24] as const;
const words = t.nodes.reboot;

export function Reboot({ cluster, nodes, onClose }: RebootProps) {
  const now = useEngineNow() ?? Date.now();
  const [hours, setHours] = useState<number>(4);
  const [first] = nodes;
  const title = nodes.length === 1 ? words.title(first.id) : words.selected(nodes.length);
  const instances = nodes.map(({ instance }) => instance);
  return (
    <Proposal
      heading={title}
      title={title}
      edits={() => [rebooted(cluster, nameOf(first.instance, now), instances, momentOf(now + hours * HOUR), "")]}
      onClose={onClose}
    >
      <Alert type="warning" header={words.text}>
        <ul className="plain-list">
          {words.means(sumOf(nodes, "pods"), sumOf(nodes, "gpus_used"), nodes.length).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Alert>
      {nodes.length > 1 && (
        <ExpandableSection headerText={words.which} defaultExpanded={nodes.length <= 10}>
          <ul className="plain-list wrap-anywhere">
            {nodes.map(({ id, group }) => (
              <li key={id}>
                {id} ({group})
              </li>
            ))}
          </ul>
        </ExpandableSection>
      )}
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

/** Of all of them; null: not known of one of them. */
function sumOf(nodes: readonly NodeView[], what: "pods" | "gpus_used"): number | null {
  const found = nodes.map((node) => node[what] ?? null);
  return found.includes(null) ? null : found.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Never used before: the node, and the moment. */
export function nameOf(instance: string, now: number): string {
  return `reboot-${instance}-${momentOf(now).replace(/[-:]/g, "").toLowerCase()}`;
}

/** UTC to the second, as documents have it. */
function momentOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
