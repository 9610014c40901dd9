/**
 * A box that shows one read: while it comes, when it fails, when a source of it cannot be seen, and the data.
 *
 *     const nodes = api.useQuery("get", "/api/v1/clusters/{cluster}/nodes", { params: { path: { cluster } } });
 *     <Card title={t.nodes.title} query={nodes}>{(page) => <NodesTable items={page.items} />}</Card>
 */
import Container from "@cloudscape-design/components/container";
import Header, { type HeaderProps } from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemAlert } from "../frame/problem-alert";
import { Loading } from "./loading";
import { type PartView, Sources } from "./sources";

export interface CardProps<Data> extends Pick<HeaderProps, "description" | "actions" | "counter" | "info"> {
  readonly title: string;
  readonly query: Pick<UseQueryResult<Data, unknown>, "data" | "error" | "refetch">;
  readonly children: (data: Data) => ReactNode;
  /** Where the answer says what it was made from, if not in `parts`. */
  readonly sources?: (data: Data) => readonly PartView[];
  readonly footer?: ReactNode;
  readonly fitHeight?: boolean;
}

export function Card<Data>({ title, query, children, sources, footer, fitHeight, ...header }: CardProps<Data>) {
  const { data, error, refetch } = query;
  return (
    <Container
      fitHeight={fitHeight}
      header={
        <Header variant="h2" {...header}>
          {title}
        </Header>
      }
      footer={footer}
    >
      {data === undefined ? (
        <Absent error={error} onRetry={() => void refetch()} />
      ) : (
        <SpaceBetween size="m">
          <Sources parts={sources ? sources(data) : partsOf(data)} />
          <div>{children(data)}</div>
        </SpaceBetween>
      )}
    </Container>
  );
}

/** In place of what is not read yet or could not be. What was read once stays; the banner says how old it is. */
export function Absent({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return error ? <ProblemAlert error={error} onRetry={onRetry} /> : <Loading />;
}

function partsOf(data: unknown): readonly PartView[] {
  const parts = typeof data === "object" && data !== null && "parts" in data ? data.parts : undefined;
  return Array.isArray(parts) ? (parts as PartView[]) : [];
}
