/** A document as it is written now, and at which revision: what a form is filled from. */
import { api } from "../../../api/client";

export function useWritten(cluster: string, kind: string, name: string) {
  return api.useQuery(
    "get",
    "/api/v1/clusters/{cluster}/documents/{kind}/{name}",
    { params: { path: { cluster, kind, name } } },
    // What somebody edits is not replaced under their hands, whatever the engine does meanwhile.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, meta: { isKept: true } },
  );
}

export function specOf(document: { readonly [key: string]: unknown }): Readonly<Record<string, unknown>> {
  const { spec } = document;
  return typeof spec === "object" && spec !== null ? (spec as Record<string, unknown>) : {};
}
