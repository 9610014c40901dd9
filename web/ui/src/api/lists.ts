/**
 * Whole lists, page by page in the background; what has come is shown at once.
 *
 *     const clusters = useEveryPage(api.useInfiniteQuery("get", "/api/v1/clusters", LARGE, everyPage));
 */
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

interface OnePage<Item> {
  readonly items: readonly Item[];
  readonly next?: string | null;
}

export const LARGE = { params: { query: { limit: 500 } } } as const;

/** Options of `api.useInfiniteQuery`. The first page is asked for without a cursor. */
export const everyPage = {
  initialPageParam: null,
  getNextPageParam: (last: { readonly next?: string | null }) => last.next ?? undefined,
} as const;

export interface WholeList<Item> {
  /** undefined: nothing was read yet. */
  readonly data: readonly Item[] | undefined;
  readonly error: unknown;
  readonly isComplete: boolean;
  readonly refetch: () => Promise<unknown>;
}

export function useEveryPage<Item>(
  query: UseInfiniteQueryResult<InfiniteData<OnePage<Item>>, unknown>,
): WholeList<Item> {
  const { data, error, hasNextPage, isFetching, isError, fetchNextPage, refetch } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  return { data: items, error, isComplete: items !== undefined && !hasNextPage, refetch };
}
