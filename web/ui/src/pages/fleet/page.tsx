/** All clusters: what each is, what goes on, and which one needs a person. */
import SpaceBetween from "@cloudscape-design/components/space-between";
import { api } from "../../api/client";
import { everyPage, LARGE, useEveryPage } from "../../api/lists";
import { useSession } from "../../api/session";
import { Page } from "../../frame/page";
import { ProblemAlert } from "../../frame/problem-alert";
import { RouteButton } from "../../frame/route-link";
import { Listing } from "../../parts/listing";
import { t } from "../../texts";
import { columns } from "./columns";
import { Tiles } from "./tiles";

const CREATE = "/clusters/new";

export function Component() {
  const { may } = useSession();
  const fleet = useEveryPage(api.useInfiniteQuery("get", "/api/v1/clusters", LARGE, everyPage));
  const clusters = fleet.data ?? [];
  const isEmpty = fleet.isComplete && clusters.length === 0;
  const create = (text: string) =>
    may("propose") && (
      <RouteButton to={CREATE} variant="primary">
        {text}
      </RouteButton>
    );
  return (
    <Page title={t.fleet.title} description={t.fleet.description} actions={isEmpty ? null : create(t.fleet.create)}>
      {fleet.data === undefined && fleet.error ? (
        <ProblemAlert error={fleet.error} onRetry={() => void fleet.refetch()} />
      ) : (
        <SpaceBetween size="l">
          {clusters.length > 0 && <Tiles clusters={clusters} />}
          <Listing
            title={t.fleet.table}
            items={clusters}
            isLoading={fleet.data === undefined}
            isPartial={!fleet.isComplete}
            columns={columns}
            trackBy={(line) => line.cluster}
            searchText={t.fleet.search}
            matches={t.fleet.matches}
            empty={{ title: t.fleet.empty.title, text: t.fleet.empty.text, action: create(t.fleet.empty.way) }}
            keep="fleet"
          />
        </SpaceBetween>
      )}
    </Page>
  );
}
