/** A cluster at one glance: what is wanted, how far each stage is, and what waits for a person. */
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { AuthorView, ClusterView } from "../../api/schema";
import { short } from "../../parts/commits";
import { Ago } from "../../parts/times";
import { WrittenBy } from "../../parts/written-by";
import { t } from "../../texts";
import { Held } from "./held";
import { Ops } from "./ops";
import { Stages } from "./stages";

const words = t.cluster.facts;

export function Overview({ view }: { readonly view: ClusterView }) {
  return (
    <SpaceBetween size="l">
      {view.held.length > 0 && <Held view={view} />}
      {(view.failed_ops.length > 0 || view.open_ops.length > 0 || view.orders.length > 0) && <Ops view={view} />}
      <Container header={<Header variant="h2">{t.cluster.stages.title}</Header>}>
        <Stages view={view} />
      </Container>
      <Facts view={view} />
    </SpaceBetween>
  );
}

function Facts({ view }: { readonly view: ClusterView }) {
  const { desired, instances, gpus, revision, head, last_ready, observed_at } = view;
  const isNext = head != null && head.commit !== revision?.commit;
  return (
    <Container header={<Header variant="h2">{words.title}</Header>}>
      <KeyValuePairs
        columns={4}
        minColumnWidth={150}
        items={[
          { label: words.ready, value: counts(instances.ready, instances.desired) },
          { label: words.gpus, value: gpus.used == null ? t.common.unknown : words.of(gpus.used, gpus.ready ?? 0) },
          { label: words.revision, value: <Revision of={revision} /> },
          ...(isNext ? [{ label: words.head, value: <Revision of={head} /> }] : []),
          { label: words.lastReady, value: last_ready ? <Moment at={last_ready} /> : words.never },
          { label: words.looked, value: observed_at ? <Ago at={observed_at} /> : words.never },
          { label: words.region, value: desired.region || t.common.unknown },
          { label: words.account, value: desired.account || t.common.unknown },
          { label: words.kubernetes, value: desired.kubernetes_version || t.common.unknown },
          { label: words.protection, value: desired.region ? protection(desired) : t.common.unknown },
        ]}
      />
    </Container>
  );
}

const protection = (desired: ClusterView["desired"]) => (desired.deletion_protection ? words.on : words.off);

function counts(ready: number | null | undefined, wanted: number): string {
  return ready == null ? words.wanted(wanted) : words.of(ready, wanted);
}

/** `last_ready` names a commit or a time, by what the journal has. */
function Moment({ at }: { readonly at: string }) {
  return Number.isNaN(Date.parse(at)) ? <Box variant="code">{short(at)}</Box> : <Ago at={at} />;
}

function Revision({ of }: { readonly of: AuthorView | null | undefined }) {
  if (of == null) return <>{t.common.none}</>;
  return (
    <div className="wrap-anywhere">
      <Box variant="code">{short(of.commit)}</Box> {of.subject}
      <WrittenBy of={of} />
    </div>
  );
}
