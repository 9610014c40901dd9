import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { sessionQuery } from "../../api/session";
import { t } from "../../texts";
import { Log, type LogQuestion } from "./log";

const NOTHING = { subscribe: () => () => {}, version: () => 0 };

/** Reads what is asked for, from the beginning whenever something else is; null: not begun yet. */
export function useLog(question: LogQuestion | null): Log | null {
  const queries = useQueryClient();
  const [log, setLog] = useState<Log | null>(null);
  const key = JSON.stringify(question);
  useEffect(() => {
    const asked = JSON.parse(key) as LogQuestion | null;
    if (asked === null) return;
    const made = new Log(asked, t.logs, () => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
    setLog(made);
    return () => {
      made.close();
      setLog(null);
    };
  }, [key, queries]);
  useSyncExternalStore(log?.subscribe ?? NOTHING.subscribe, log?.version ?? NOTHING.version);
  return log;
}
