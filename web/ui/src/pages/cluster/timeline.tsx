/** What happened, newest first: commits, the journal's lines, effects, with who asked and who let it pass. */
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { api } from "../../api/client";
import { everyPage } from "../../api/lists";
import type { EntryView } from "../../api/schema";
import { RouteLink } from "../../frame/route-link";
import { Absent } from "../../parts/card";
import { short } from "../../parts/commits";
import { More } from "../../parts/more";
import { Said } from "../../parts/said";
import { Ago } from "../../parts/times";
import { t } from "../../texts";

type Showing = keyof typeof t.timeline.show;
type Kind = "commit" | "rollout" | "op" | "stage" | "hold" | "order" | "run" | "end";
const KINDS: Readonly<Record<Showing, Kind[] | undefined>> = {
  all: undefined,
  commit: ["commit"],
  op: ["op"],
  hold: ["hold", "order"],
};
const words = t.timeline;

export function Timeline({ cluster }: { readonly cluster: string }) {
  const [showing, setShowing] = useState<Showing>("all");
  const params = { path: { cluster }, query: { limit: 50, kind: KINDS[showing] } };
  const query = api.useInfiniteQuery("get", "/api/v1/clusters/{cluster}/timeline", { params }, everyPage);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const entries: readonly EntryView[] | undefined = data?.pages.flatMap((page) => page.items);
  return (
    <Container
      header={
        <Header variant="h2" description={words.text}>
          {words.title}
        </Header>
      }
    >
      <SpaceBetween size="m">
        <SegmentedControl
          label={words.filter}
          selectedId={showing}
          options={(Object.keys(KINDS) as Showing[]).map((id) => ({ id, text: words.show[id] }))}
          onChange={({ detail }) => setShowing(detail.selectedId as Showing)}
        />
        {entries === undefined ? (
          <Absent error={error} onRetry={() => void refetch()} />
        ) : entries.length === 0 ? (
          <Box color="text-body-secondary">{words.none}</Box>
        ) : (
          <ol className="bare-list">
            {entries.map((entry) => (
              <li key={entry.id}>
                <Entry entry={entry} />
              </li>
            ))}
          </ol>
        )}
        {hasNextPage && <More text={words.more} isPending={isFetchingNextPage} onMore={fetchNextPage} />}
      </SpaceBetween>
    </Container>
  );
}

function Entry({ entry: { kind, at, revision, say, asked, approved, detail } }: { readonly entry: EntryView }) {
  const who = asked.proposed_by || asked.email || asked.by;
  const message = detail?.message;
  return (
    <Box padding={{ vertical: "xs" }}>
      <div className="wrap-anywhere">
        <StatusIndicator type={signOf(kind, detail)} wrapText>
          <strong>{words.kinds[kind] ?? kind}</strong> <Said text={say} />
        </StatusIndicator>
      </div>
      <Box variant="small" color="text-body-secondary" display="block">
        <Ago at={at} by={kind === "commit" ? "world" : "engine"} />, <Box variant="code">{short(revision)}</Box>
        {who && `, ${words.asked(who)}`}
        {approved.length > 0 && `, ${words.approved(approved.join(", "))}`}
        {asked.change && (
          <>
            ,{" "}
            <RouteLink to={`/changes/${asked.change}`} fontSize="body-s">
              {words.change}
            </RouteLink>
          </>
        )}
      </Box>
      {typeof message === "string" && message !== say && (
        <Box variant="small" display="block">
          <Said text={message} />
        </Box>
      )}
    </Box>
  );
}

const SIGNS: Readonly<Record<string, StatusIndicatorProps.Type>> = {
  failed: "error",
  Failed: "error",
  unknown: "warning",
  held: "warning",
  done: "success",
  succeeded: "success",
  Ready: "success",
};

function signOf(kind: string, detail: Readonly<Record<string, unknown>> | undefined): StatusIndicatorProps.Type {
  const told = String(detail?.phase ?? detail?.state ?? "");
  return SIGNS[told] ?? (kind === "commit" ? "info" : "pending");
}
