/** What differs from git though git did not change: what becomes of it, and a way to leave everything as it is. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { api } from "../../api/client";
import type { ClusterView, DriftPage, SeenView } from "../../api/schema";
import { useSession } from "../../api/session";
import { Card } from "../../parts/card";
import { Action } from "../../parts/plan/action";
import { t } from "../../texts";
import { Suspend } from "./settings/suspend";

const words = t.drift;

export function Drift({ view }: { readonly view: ClusterView }) {
  const { may } = useSession();
  const params = { path: { cluster: view.cluster }, query: { limit: 500 } };
  const query = api.useQuery("get", "/api/v1/clusters/{cluster}/drift", { params });
  const [isAsked, setAsked] = useState(false);
  const isSuspended = view.desired.suspend;
  return (
    <>
      <Card
        title={words.title}
        description={words.text}
        query={query}
        actions={
          <Button
            onClick={() => setAsked(true)}
            disabled={!may("propose")}
            disabledReason={t.common.missingScope("propose")}
          >
            {isSuspended ? words.resume : words.hold}
          </Button>
        }
      >
        {(page) => <Found page={page} />}
      </Card>
      {isAsked && <Suspend cluster={view.cluster} isSuspended={isSuspended} onClose={() => setAsked(false)} />}
    </>
  );
}

function Found({ page: { items, gone, unmanaged, unknown } }: { readonly page: DriftPage }) {
  return (
    <SpaceBetween size="l">
      {items.length === 0 && gone.length === 0 && <StatusIndicator type="success">{words.none}</StatusIndicator>}
      {items.map(({ then, action }) => (
        <SpaceBetween key={action.digest} size="xxs">
          <Action action={action} />
          <Box variant="small">{then === "restored" ? words.restored : words.held}</Box>
        </SpaceBetween>
      ))}
      <Seen title={words.gone} things={gone} type="warning" />
      <Seen title={words.unknown} things={unknown} type="warning" />
      <Seen title={words.unmanaged} things={unmanaged} type="info" />
    </SpaceBetween>
  );
}

interface SeenProps {
  readonly title: string;
  readonly things: readonly SeenView[];
  readonly type: "warning" | "info";
}

function Seen({ title, things, type }: SeenProps) {
  if (things.length === 0) return null;
  return (
    <Alert type={type} header={title}>
      <ul className="plain-list wrap-anywhere">
        {things.map(({ key, message }) => (
          <li key={key}>
            {key}
            {message && `: ${message}`}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
