/** Who is at the page, and what they may do. */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { api, client } from "./client";
import type { SessionView } from "./schema";

export type Scope = SessionView["scopes"][number];

export interface Session {
  readonly who: SessionView;
  /** Whether they hold a scope; a form or button that needs another is shown disabled, with the reason. */
  may(scope: Scope): boolean;
}

const FRESH = { staleTime: 60_000, retry: false } as const;
export const sessionQuery = api.queryOptions("get", "/api/v1/session", {}, FRESH);

/** Who is at the page, as the service tells it; an error with status 401: nobody. */
export function useWho() {
  return api.useQuery("get", "/api/v1/session", {}, FRESH);
}

const Context = createContext<Session | null>(null);

export function SessionProvider({ who, children }: { readonly who: SessionView; readonly children: ReactNode }) {
  const session = useMemo(() => ({ who, may: (scope: Scope) => who.scopes.includes(scope) }), [who]);
  return <Context value={session}>{children}</Context>;
}

export function useSession(): Session {
  const session = useContext(Context);
  if (session === null) throw new Error("useSession outside of a page that needs a log-in");
  return session;
}

/** Ends the session here, and forgets all that was read with it. */
export function useLogOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await client.DELETE("/api/v1/session");
    queries.clear();
    globalThis.location.assign("/login");
  };
}
