/**
 * The one way to the API: `api.useQuery("get", "/api/v1/clusters")`, `api.useMutation("post", …)`, `client.GET(…)`.
 * Paths, parameters and answers are those of the OpenAPI document. Whatever fails is thrown as a ProblemError.
 */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import createClient from "openapi-fetch";
import createQueries from "openapi-react-query";
import type { paths } from "../../.generated/schema";
import { asProblem, isPassing, ofResponse, unreachable } from "./problems";

export const client = createClient<paths>({
  baseUrl: globalThis.location.origin,
  fetch: (request) => globalThis.fetch(request), // looked up at each call, so that tests can stand in for it
});

client.use({
  async onResponse({ response }) {
    if (!response.ok && response.status !== 304) throw await ofResponse(response);
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === "AbortError" ? error : unreachable(error);
  },
});

export const api = createQueries(client);

const SESSION = ["get", "/api/v1/session"] as const;
const TRIES = 2;

/** Shown data stay while they are read again, and an event of the service says when that is (live/freshness.ts). */
export function makeQueryClient(): QueryClient {
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, { queryKey }) => askWho(error, queryKey) }),
    mutationCache: new MutationCache({ onError: (error) => askWho(error, []) }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false, // the stream of events is opened anew then, which reads everything shown again
        retry: (count, error) => count < TRIES && isPassing(asProblem(error)),
        retryDelay: (count) => 500 * 2 ** count,
        networkMode: "always", // the service may be on this machine
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });

  /** Whoever is told that they are not logged in is shown the log-in page, wherever they are. */
  function askWho(error: Error, key: readonly unknown[]) {
    if (asProblem(error).status !== 401 || key[1] === SESSION[1]) return;
    void queries.invalidateQueries({ queryKey: SESSION });
  }
  return queries;
}
