/** What the cluster's document says: what can be changed, by one form; what cannot, with the way out; and its end. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { api } from "../../../api/client";
import type { ClusterView, DocumentView } from "../../../api/schema";
import { useSession } from "../../../api/session";
import { Card } from "../../../parts/card";
import { t } from "../../../texts";
import { specOf } from "../groups/written";
import { ChangeSettings } from "./change";
import { Deletion } from "./deletion";
import { Fixed } from "./fixed";
import { Policy } from "./policy";
import { Suspend } from "./suspend";
import { type Wish, wishOf } from "./wish";

const words = t.settings;

export function Settings({ view }: { readonly view: ClusterView }) {
  const { cluster } = view;
  const { may } = useSession();
  const [isChanging, setChanging] = useState(false);
  const params = { path: { cluster, kind: "Cluster", name: cluster } };
  const query = api.useQuery("get", "/api/v1/clusters/{cluster}/documents/{kind}/{name}", { params });
  const change = (
    <Button
      onClick={() => setChanging(true)}
      disabled={!may("propose") || query.data === undefined}
      disabledReason={may("propose") ? t.common.loading : t.common.missingScope("propose")}
    >
      {words.change}
    </Button>
  );
  return (
    <SpaceBetween size="l">
      <Card title={words.title} description={words.text} query={query} actions={change}>
        {(written) => <Written written={written} />}
      </Card>
      <Suspension view={view} />
      <Policy />
      <Deletion view={view} />
      {isChanging && <ChangeSettings cluster={cluster} onClose={() => setChanging(false)} />}
    </SpaceBetween>
  );
}

function Written({ written }: { readonly written: DocumentView }) {
  const spec = specOf(written.model);
  const wish = wishOf(spec);
  return (
    <SpaceBetween size="l">
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: words.fields.version, value: wish.version },
          { label: words.fields.recovery, value: words.recoveries[wish.recovery] ?? wish.recovery },
          { label: words.fields.endpoint, value: <Lines of={endpointLines(wish)} /> },
          { label: words.fields.addons, value: <Lines of={wish.addons.map(addonLine)} /> },
          {
            label: words.fields.logging,
            value: <Lines of={wish.logging.map((name) => words.logNames[name] ?? name)} />,
          },
          { label: words.fields.tags, value: <Lines of={wish.tags.map(({ key, value }) => `${key} = ${value}`)} /> },
          { label: words.fields.access, value: <Lines of={accessLines(wish)} none={words.accessNone} /> },
          { label: words.fields.script, value: wish.script || words.scriptNone },
        ]}
      />
      <Fixed written={written} />
    </SpaceBetween>
  );
}

function Lines({ of, none = words.none }: { readonly of: readonly string[]; readonly none?: string }) {
  if (of.length === 0) return <>{none}</>;
  return (
    <ul className="bare-list wrap-anywhere">
      {of.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function endpointLines({ isPublic, isPrivate, cidrs }: Wish): string[] {
  return [isPublic ? `${words.isPublic}: ${cidrs}` : "", isPrivate ? words.isPrivate : ""].filter(Boolean);
}

function addonLine({ name, version, enabled }: Wish["addons"][number]): string {
  return `${name}: ${enabled ? version || words.recommended : words.left}`;
}

function accessLines({ access }: Wish): string[] {
  return access.map((one) => `${one.principal}: ${one.policy}, ${one.namespaces || words.wholeCluster}`);
}

function Suspension({ view: { cluster, desired } }: { readonly view: ClusterView }) {
  const { may } = useSession();
  const [isAsked, setAsked] = useState(false);
  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={
            <Button
              onClick={() => setAsked(true)}
              disabled={!may("propose")}
              disabledReason={t.common.missingScope("propose")}
            >
              {desired.suspend ? t.drift.resume : words.suspension.title}
            </Button>
          }
        >
          {words.suspension.title}
        </Header>
      }
    >
      <StatusIndicator type={desired.suspend ? "stopped" : "success"} wrapText>
        {desired.suspend ? words.suspension.on : words.suspension.off}
      </StatusIndicator>
      {!desired.suspend && (
        <Box variant="small" color="text-body-secondary" display="block">
          {t.drift.holdText}
        </Box>
      )}
      {isAsked && <Suspend cluster={cluster} isSuspended={desired.suspend} onClose={() => setAsked(false)} />}
    </Container>
  );
}
