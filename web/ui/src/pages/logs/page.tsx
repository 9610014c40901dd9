/** The log of a pod's container: from where one wants, followed as it is written, and searched. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMemo, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { api } from "../../api/client";
import type { PodView } from "../../api/schema";
import { Page } from "../../frame/page";
import { RouteLink } from "../../frame/route-link";
import { useEngineNow } from "../../live/engine-clock";
import { Absent } from "../../parts/card";
import { phaseSign } from "../../parts/pod-state";
import { Sources } from "../../parts/sources";
import { t } from "../../texts";
import { Asking } from "./asking";
import { chosenContainer, readWish, startOf, writeWish } from "./question";
import { Shown } from "./shown";
import { useLog } from "./use-log";

const words = t.logs;

export function Component() {
  const { cluster = "", namespace = "", pod: name = "" } = useParams();
  const query = api.useQuery("get", "/api/v1/clusters/{cluster}/pods", {
    params: { path: { cluster }, query: { namespace, name, limit: 1 } },
  });
  const pod = query.data?.items[0];
  const above = [
    { text: t.fleet.title, href: "/" },
    { text: cluster, href: `/clusters/${cluster}` },
    { text: words.above, href: `/clusters/${cluster}?tab=pods` },
  ];
  return (
    <Page title={name} above={above} description={pod && <Facts cluster={cluster} pod={pod} />}>
      {query.data === undefined ? (
        <Absent error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SpaceBetween size="m">
          <Sources parts={query.data.parts} />
          <Logs cluster={cluster} namespace={namespace} name={name} pod={pod} />
        </SpaceBetween>
      )}
    </Page>
  );
}

function Facts({ cluster, pod }: { readonly cluster: string; readonly pod: PodView }) {
  const { type, text } = phaseSign(pod);
  return (
    <span className="log-facts">
      <span>{pod.namespace}</span>
      <StatusIndicator type={type}>{text}</StatusIndicator>
      {pod.node && (
        <RouteLink to={`/clusters/${cluster}?tab=pods&node=${encodeURIComponent(pod.node)}`}>{pod.node}</RouteLink>
      )}
      {pod.owner && <span>{pod.owner}</span>}
      {pod.restarts > 0 && (
        <span>
          {words.facts.restarts}: {pod.restarts}
        </span>
      )}
    </span>
  );
}

interface LogsProps {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: PodView | undefined;
}

function Logs({ cluster, namespace, name, pod }: LogsProps) {
  const [search, setSearch] = useSearchParams();
  const wish = readWish(search);
  const now = useEngineNow();
  const [reading, setReading] = useState(0); // counts, so that the same may be read again
  const container = chosenContainer(pod, wish.container);
  // From when on is said once: what "the last hour" means must not move while one reads.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the clock goes on, the question does not
  const start = useMemo(() => startOf(wish, now), [wish.from, wish.at, wish.isPast, container, reading, now === null]);
  const question = useMemo(
    () =>
      start === null || (pod === undefined && container === undefined && reading === 0 && wish.container === undefined)
        ? null
        : { cluster, namespace, pod: name, container, start, isPast: wish.isPast, reading },
    [cluster, namespace, name, container, start, wish.isPast, reading, pod, wish.container],
  );
  const log = useLog(question);
  return (
    <SpaceBetween size="m">
      {pod === undefined && <Alert type="warning">{words.gone}</Alert>}
      <Container>
        <SpaceBetween size="s">
          <Asking
            pod={pod}
            container={container}
            wish={wish}
            onChange={(next) => setSearch((before) => writeWish(before, next), { replace: true })}
          />
          {log === null ? (
            <Box color="text-body-secondary">{words.noLines}</Box>
          ) : (
            <Shown
              key={JSON.stringify(question)}
              log={log}
              name={name}
              container={container ?? ""}
              hasTimeLimit={start !== null && "since" in start}
              onAgain={() => setReading((count) => count + 1)}
            />
          )}
        </SpaceBetween>
      </Container>
    </SpaceBetween>
  );
}
