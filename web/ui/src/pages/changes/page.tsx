/** All changes: what each is, how it stands, and what it waits for. */
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useSearchParams } from "react-router";
import { api } from "../../api/client";
import { everyPage, useEveryPage } from "../../api/lists";
import type { ChangeSummary } from "../../api/schema";
import { Page } from "../../frame/page";
import { ProblemAlert } from "../../frame/problem-alert";
import { Listing } from "../../parts/listing";
import { t } from "../../texts";
import { columns } from "./columns";

type Showing = ChangeSummary["state"] | "all";
const SHOWING: readonly Showing[] = ["open", "merged", "closed", "all"];

export function Component() {
  const [search, setSearch] = useSearchParams();
  const showing = SHOWING.find((one) => one === search.get("state")) ?? "open";
  const query = { limit: 500, ...(showing !== "all" && { state: showing }) };
  const list = useEveryPage(api.useInfiniteQuery("get", "/api/v1/changes", { params: { query } }, everyPage));
  return (
    <Page title={t.changes.title} description={t.changes.description}>
      <SpaceBetween size="m">
        <SegmentedControl
          label={t.changes.showing}
          selectedId={showing}
          options={SHOWING.map((id) => ({ id, text: t.changes.states[id] }))}
          onChange={({ detail }) => setSearch({ state: detail.selectedId }, { replace: true })}
        />
        {list.data === undefined && list.error ? (
          <ProblemAlert error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <Listing
            title={t.changes.title}
            items={list.data ?? []}
            isLoading={list.data === undefined}
            isPartial={!list.isComplete}
            columns={columns}
            trackBy={({ id }) => id}
            searchText={t.changes.search}
            matches={t.changes.matches}
            empty={t.changes.empty}
            keep="changes"
          />
        )}
      </SpaceBetween>
    </Page>
  );
}
