/** What of a cluster cannot be changed once it is made, and the way to another one. */
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { DocumentView } from "../../../api/schema";
import { t } from "../../../texts";
import { specOf } from "../groups/written";

const words = t.settings.fixed;

export function Fixed({ written }: { readonly written: DocumentView }) {
  const spec = specOf(written.model);
  const [network, hyperpod, adopt] = [spec.network, spec.hyperpod, spec.adopt].map(
    (one) => (one ?? {}) as Readonly<Record<string, string>>,
  );
  const adopted = Object.values(adopt ?? {}).join(", ");
  return (
    <ExpandableSection defaultExpanded headerText={words.title}>
      <SpaceBetween size="s">
        <KeyValuePairs
          columns={3}
          minColumnWidth={150}
          items={[
            { label: words.name, value: written.name },
            { label: words.account, value: String(spec.account ?? "") },
            { label: words.region, value: String(spec.region ?? "") },
            { label: words.network, value: network?.vpc ?? words.ownVpc(network?.vpcCidr ?? "") },
            { label: words.provisioning, value: hyperpod?.provisioning ?? t.common.unknown },
            ...(adopted ? [{ label: words.adopted, value: adopted }] : []),
          ]}
        />
        <div>
          <strong>{t.problems.wayOut}:</strong> {words.text}
        </div>
      </SpaceBetween>
    </ExpandableSection>
  );
}
