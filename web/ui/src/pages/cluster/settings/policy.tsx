/** Who must approve what, as the repository's policy has it: to read, with the way to change it. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { api } from "../../../api/client";
import type { PolicyView } from "../../../api/schema";
import { Card } from "../../../parts/card";
import { t } from "../../../texts";

const words = t.policy;

/** schemas/jsonschema/policy.json, with defaults. */
interface Spec {
  readonly approvals: {
    readonly requireFor: readonly string[];
    readonly rules: readonly Rule[];
    readonly expireAfter: string;
  };
  readonly drift: { readonly counts: string };
  readonly directCommit: { readonly paths: readonly string[] };
  readonly blastRadius: Readonly<
    Record<"maxClusters" | "maxNodes" | "maxDeletes" | "maxGpus" | "maxRunningJobs", number>
  >;
  readonly pruneGuard: { readonly maxDeleteShare: number; readonly maxDeletes: number };
}

interface Rule {
  readonly paths: readonly string[];
  readonly costs: readonly string[];
  readonly approvers: readonly string[];
  readonly count: number;
}

export function Policy() {
  const query = api.useQuery("get", "/api/v1/policy");
  return (
    <Card title={words.title} description={words.text} query={query}>
      {(view) => <Rules view={view} />}
    </Card>
  );
}

function Rules({ view }: { readonly view: PolicyView }) {
  const { approvals, drift, directCommit, blastRadius, pruneGuard } = view.spec as unknown as Spec;
  const radius = [
    words.clusters(blastRadius.maxClusters),
    words.nodes(blastRadius.maxNodes),
    words.deletes(blastRadius.maxDeletes),
    words.gpus(blastRadius.maxGpus),
    words.jobs(blastRadius.maxRunningJobs),
  ];
  return (
    <SpaceBetween size="m">
      {view.problems.length > 0 && (
        <Alert type="error" header={words.broken}>
          <ul className="plain-list wrap-anywhere">
            {view.problems.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Alert>
      )}
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: words.waits, value: costs(approvals.requireFor) || words.nothingWaits },
          {
            label: words.rules,
            value: <Lines of={approvals.rules.length > 0 ? approvals.rules.map(ruleText) : [words.noRules]} />,
          },
          { label: words.expires, value: words.lasts(approvals.expireAfter) },
          { label: words.drift, value: words.drifts[drift.counts] ?? drift.counts },
          {
            label: words.direct,
            value: <Lines of={directCommit.paths.length > 0 ? directCommit.paths : [words.none]} />,
          },
          { label: words.radius, value: <Lines of={radius} /> },
          { label: words.prune, value: words.pruneText(pruneGuard.maxDeleteShare, pruneGuard.maxDeletes) },
        ]}
      />
      <Box color="text-body-secondary">
        {view.blob === null && `${words.builtIn} `}
        {words.way(view.path)}
      </Box>
    </SpaceBetween>
  );
}

/** "2 of alice@example.com: actions: deleting; files: clusters/prod/**". */
export function ruleText({ paths, costs: told, approvers, count }: Rule): string {
  const who = words.rule(count, approvers.join(", ") || words.anybody);
  const files = paths.length > 0 ? words.files(paths.join(", ")) : words.allFiles;
  return told.length > 0 ? `${who}: ${words.actions(costs(told))}; ${files}` : `${who}: ${files}, ${words.merge}`;
}

function costs(told: readonly string[]): string {
  return told.map((cost) => words.costs[cost] ?? cost).join(", ");
}

function Lines({ of }: { readonly of: readonly string[] }) {
  return (
    <ul className="bare-list wrap-anywhere">
      {of.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
