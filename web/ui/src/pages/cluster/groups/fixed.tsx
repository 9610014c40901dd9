/** What of a group cannot be changed once it is made, and the way to another one. */
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { GroupView } from "../../../api/schema";
import { t } from "../../../texts";

const words = t.groups;

export function Fixed({ group: { instance_type, zone, desired } }: { readonly group: GroupView }) {
  return (
    <ExpandableSection defaultExpanded headerText={words.fixed.title}>
      <SpaceBetween size="s">
        <KeyValuePairs
          columns={2}
          items={[
            { label: words.columns.type, value: instance_type },
            { label: words.columns.zone, value: zone || t.machines.zoneAny },
            {
              label: words.columns.capacity,
              value: desired ? (words.capacities[desired.capacity] ?? desired.capacity) : t.common.unknown,
            },
            { label: words.fixed.interface, value: desired?.interface ?? words.fixed.default },
          ]}
        />
        <div>
          <strong>{t.problems.wayOut}:</strong> {words.fixed.text}
        </div>
      </SpaceBetween>
    </ExpandableSection>
  );
}
