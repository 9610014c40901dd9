/** What Kubernetes and HyperPod say happened in a cluster, newest first, kept fresh. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useSearchParams } from "react-router";
import { api } from "../../../api/client";
import { everyPage } from "../../../api/lists";
import type { ClusterView, EventView } from "../../../api/schema";
import { RouteLink } from "../../../frame/route-link";
import { Absent } from "../../../parts/card";
import { Empty } from "../../../parts/listing";
import { type PartView, Sources } from "../../../parts/sources";
import { Ago } from "../../../parts/times";
import { t } from "../../../texts";
import { Filters } from "./filters";
import { isAny, type Level, queryOf, readWish, writeWish } from "./wish";

const words = t.happenings;

export function Events({ view: { cluster, desired } }: { readonly view: ClusterView }) {
  const [search, setSearch] = useSearchParams();
  const wish = readWish(search);
  const params = { path: { cluster }, query: queryOf(wish) };
  const query = api.useInfiniteQuery("get", "/api/v1/clusters/{cluster}/events", { params }, everyPage);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  const events: readonly EventView[] | undefined = data?.pages.flatMap((page) => page.items);
  const parts: readonly PartView[] = data?.pages[0]?.parts ?? [];
  return (
    <Container
      header={
        <Header variant="h2" description={words.text}>
          {words.title}
        </Header>
      }
    >
      <SpaceBetween size="m">
        <Filters
          wish={wish}
          groups={desired.groups.map(({ name }) => name)}
          onChange={(next) => setSearch(writeWish(next), { replace: true })}
        />
        <Sources parts={parts} />
        {events === undefined ? (
          <Absent error={error} onRetry={() => void refetch()} />
        ) : events.length === 0 ? (
          <Nothing isFiltered={!isAny(wish)} onClear={() => setSearch({ tab: "events" }, { replace: true })} />
        ) : (
          <ol className="bare-list" aria-label={words.title}>
            {events.map((event) => (
              <li key={`${event.source} ${event.id} ${event.at}`}>
                <Entry cluster={cluster} event={event} />
              </li>
            ))}
          </ol>
        )}
        {hasNextPage && (
          <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.more}
          </Button>
        )}
      </SpaceBetween>
    </Container>
  );
}

function Nothing({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  if (!isFiltered) return <Empty title={words.none} text={words.noneText} />;
  return <Empty title={words.noMatch} action={<Button onClick={onClear}>{t.common.clearFilter}</Button>} />;
}

const SIGNS: Readonly<Record<Level, StatusIndicatorProps.Type>> = {
  error: "error",
  warning: "warning",
  info: "info",
};

function Entry({ cluster, event }: { readonly cluster: string; readonly event: EventView }) {
  const { at, first, source, level, reason, message, about, namespace, group, instance, count } = event;
  const [kind, name] = [about.slice(0, about.indexOf("/")), about.slice(about.indexOf("/") + 1)];
  const where = [namespace, group, kind === "Instance" || kind === "Node" ? "" : instance].filter((one) => one !== "");
  return (
    <Box padding={{ vertical: "xs" }}>
      <div className="wrap-anywhere">
        <StatusIndicator type={SIGNS[level as Level] ?? "info"} iconAriaLabel={words.levels[level as Level]} wrapText>
          {/* HyperPod gives no reason but what it is about, which stands below. */}
          <strong>{reason === "" || reason === kind ? words.levels[level as Level] : reason}</strong>
        </StatusIndicator>{" "}
        {message}
      </div>
      <Box variant="small" color="text-body-secondary" display="block">
        <span className="wrap-anywhere">
          <Ago at={at} />, {words.sources[source as keyof typeof words.sources] ?? source}, {kind} {name}
          {where.length > 0 && `, ${where.join(", ")}`}
          {count > 1 && (
            <>
              , {words.count(count)} {words.since} <Ago at={first} />
            </>
          )}
        </span>
        {kind === "Pod" && namespace && (
          <>
            ,{" "}
            <RouteLink to={`/clusters/${cluster}/pods/${namespace}/${name}`} fontSize="body-s">
              {words.logs}
            </RouteLink>
          </>
        )}
      </Box>
    </Box>
  );
}
