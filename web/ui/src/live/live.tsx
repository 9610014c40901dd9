/** Keeps a signed-in page fresh: events make reads old, and what a person should know becomes a notice. */
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { sessionQuery } from "../api/session";
import { renewClock } from "./engine-clock";
import { makeRefresher } from "./freshness";
import { isOver, noticeOf } from "./news";
import { useNotices } from "./notices";
import { openStream, type StreamState } from "./stream";

export interface Liveness {
  readonly state: StreamState;
  /** Since when, in milliseconds. */
  readonly since: number;
  /** Why the engine's newest look could do nothing; null: it could. */
  readonly problem: string | null;
}

const Context = createContext<Liveness>({ state: "opening", since: 0, problem: null });

export function useLiveness(): Liveness {
  return useContext(Context);
}

export function Live({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const { tell, withdraw } = useNotices();
  const [liveness, setLiveness] = useState<Liveness>(() => ({ state: "opening", since: Date.now(), problem: null }));
  useEffect(() => {
    const refresh = makeRefresher(queries);
    return openStream({
      event(event) {
        refresh(event);
        renewClock(queries, event);
        if (event.kind === "tick") {
          setLiveness((before) => (before.problem === event.problem ? before : { ...before, problem: event.problem }));
        }
        withdraw((notice) => isOver(notice, event));
        const notice = noticeOf(event);
        if (notice !== null) tell(notice);
      },
      state(state) {
        setLiveness((before) => (before.state === state ? before : { ...before, state, since: Date.now() }));
      },
      refused() {
        void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      },
    });
  }, [queries, tell, withdraw]);
  return <Context value={liveness}>{children}</Context>;
}
