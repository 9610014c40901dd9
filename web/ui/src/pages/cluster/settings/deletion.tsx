/** The end of a cluster, in two changes: the protection goes and is applied, then the documents; with what is lost. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { ClusterView } from "../../../api/schema";
import { useSession } from "../../../api/session";
import { Absent } from "../../../parts/card";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { useWritten } from "../groups/written";
import { stepsOf } from "./patch";

const words = t.deletion;
type Asked = "unprotect" | "protect" | "remove";

/** What git says is applied: only then the engine takes a folder that goes for meant. */
export function isApplied({ condition, revision, head }: ClusterView): boolean {
  return condition === "Ready" && revision != null && (head == null || head.commit === revision.commit);
}

export function Deletion({ view }: { readonly view: ClusterView }) {
  const { cluster, desired } = view;
  const { may } = useSession();
  const [asked, setAsked] = useState<Asked | null>(null);
  const isOpen = !desired.deletion_protection;
  const ready = isOpen && isApplied(view);
  const lack = may("propose") ? undefined : t.common.missingScope("propose");
  const close = () => setAsked(null);
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={words.text}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              {isOpen && (
                <Button disabled={lack !== undefined} disabledReason={lack} onClick={() => setAsked("protect")}>
                  {words.protect}
                </Button>
              )}
              <Button
                disabled={lack !== undefined || (isOpen && !ready)}
                disabledReason={lack ?? words.waits}
                onClick={() => setAsked(isOpen ? "remove" : "unprotect")}
              >
                {isOpen ? words.remove : words.unprotect}
              </Button>
            </SpaceBetween>
          }
        >
          {words.title}
        </Header>
      }
    >
      <StatusIndicator type={ready ? "warning" : isOpen ? "in-progress" : "success"} wrapText>
        {ready ? words.ready : isOpen ? words.waits : words.protectedNow}
      </StatusIndicator>
      <Box variant="small" color="text-body-secondary" display="block">
        {words.step(isOpen ? 2 : 1, 2)}
      </Box>
      {asked === "remove" && <Remove view={view} onClose={close} />}
      {asked !== null && asked !== "remove" && (
        <Protection cluster={cluster} isWanted={asked === "protect"} onClose={close} />
      )}
    </Container>
  );
}

interface ProtectionProps {
  readonly cluster: string;
  readonly isWanted: boolean;
  readonly onClose: () => void;
}

function Protection({ cluster, isWanted, onClose }: ProtectionProps) {
  const written = useWritten(cluster, "Cluster", cluster);
  const title = isWanted ? words.protectTitle(cluster) : words.unprotectTitle(cluster);

  function edits() {
    if (written.data === undefined) return null;
    const steps = stepsOf(written.data.document, [{ path: ["spec", "deletionProtection"], value: isWanted }]);
    return [
      { edit: "patch" as const, cluster, kind: "Cluster", name: cluster, patch: steps.map((one) => ({ ...one })) },
    ];
  }

  return (
    <Proposal heading={title} title={title} base={written.data?.revision} edits={edits} onClose={onClose}>
      {written.error ? <Absent error={written.error} onRetry={() => void written.refetch()} /> : null}
      <div>{isWanted ? words.protectText : words.unprotectText}</div>
    </Proposal>
  );
}

function Remove({ view, onClose }: { readonly view: ClusterView; readonly onClose: () => void }) {
  const { cluster } = view;
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);

  function edits() {
    setTried(true);
    return name === cluster ? [{ edit: "removeCluster" as const, cluster }] : null;
  }

  return (
    <Proposal heading={words.removeTitle(cluster)} title={words.removeTitle(cluster)} edits={edits} onClose={onClose}>
      <Losses view={view} />
      <FormField label={words.type(cluster)} errorText={isTried && name !== cluster ? words.typeBad : undefined}>
        <Input value={name} autoComplete={false} spellcheck={false} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
    </Proposal>
  );
}

export function Losses({ view: { desired, gpus } }: { readonly view: ClusterView }) {
  if (desired.adopts) return <Alert type="warning">{words.released}</Alert>;
  const { groups, instances, storages } = desired;
  return (
    <>
      <Alert type="error" header={words.destroyed}>
        <ul className="plain-list wrap-anywhere">
          <li>
            {words.nodes(instances, desired.gpus ?? 0)}
            {groups.length > 0 && (
              <ul className="plain-list">
                {groups.map(({ name, count, instance_type }) => (
                  <li key={name}>{words.group(name, count, instance_type)}</li>
                ))}
              </ul>
            )}
          </li>
          {gpus.used ? <li>{words.busy(gpus.used)}</li> : null}
          <li>{words.hyperpod}</li>
          <li>{words.eks}</li>
          <li>{words.network}</li>
        </ul>
        {words.back}
      </Alert>
      <Box padding={{ top: "m" }}>
        <strong>{words.kept}</strong>
        <ul className="plain-list wrap-anywhere">
          {storages.map(({ name, bucket }) => (
            <li key={name}>{words.bucket(bucket ? `${name} (${bucket})` : name)}</li>
          ))}
          <li>{words.history}</li>
        </ul>
      </Box>
    </>
  );
}
