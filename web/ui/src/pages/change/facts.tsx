/** What a change is, who wants it and why. Words that a person or an agent wrote are shown as text. */
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs, { type KeyValuePairsProps } from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ChangeView as Change } from "../../api/schema";
import { RouteLink } from "../../frame/route-link";
import { short } from "../../parts/commits";
import { Ago } from "../../parts/times";
import { t } from "../../texts";

const words = t.change.facts;

export function Facts({ change }: { readonly change: Change }) {
  return (
    <Container header={<Header variant="h2">{words.title}</Header>}>
      <KeyValuePairs columns={4} minColumnWidth={150} items={itemsOf(change)} />
    </Container>
  );
}

function itemsOf(change: Change): KeyValuePairsProps.Item[] {
  const { kind, proposed_by, on_behalf_of, why, clusters, reverts, merged } = change;
  return [
    { label: words.by, value: <Wrapped text={kind === "agent" ? words.agent(proposed_by) : proposed_by} /> },
    ...(on_behalf_of ? [{ label: words.behalf, value: <Wrapped text={on_behalf_of} /> }] : []),
    { label: words.why, value: <Wrapped text={why || words.noWhy} isQuiet={!why} /> },
    { label: words.clusters, value: clusters.length > 0 ? <Clusters names={clusters} /> : words.noCluster },
    { label: words.opened, value: <Ago at={change.opened_at} /> },
    { label: words.touched, value: <Ago at={change.updated_at} /> },
    ...(merged ? [{ label: words.merged, value: <Box variant="code">{short(merged)}</Box> }] : []),
    ...(reverts ? [{ label: words.reverts, value: <Reverted what={reverts} /> }] : []),
    { label: words.head, value: <Box variant="code">{short(change.head)}</Box> },
    { label: words.base, value: <Box variant="code">{short(change.base)}</Box> },
  ];
}

function Wrapped({ text, isQuiet = false }: { readonly text: string; readonly isQuiet?: boolean }) {
  return (
    <Box color={isQuiet ? "text-body-secondary" : undefined}>
      <span className="wrap-anywhere written">{text}</span>
    </Box>
  );
}

function Clusters({ names }: { readonly names: readonly string[] }) {
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {names.map((name) => (
        <RouteLink key={name} to={`/clusters/${name}`}>
          {name}
        </RouteLink>
      ))}
    </SpaceBetween>
  );
}

const CHANGE = /^[0-9a-hjkmnp-tv-z]{26}$/;

function Reverted({ what }: { readonly what: string }) {
  if (CHANGE.test(what)) return <RouteLink to={`/changes/${what}`}>{what}</RouteLink>;
  return <Box variant="code">{short(what)}</Box>;
}
