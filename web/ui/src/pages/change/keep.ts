/** Puts a change, as a write answered with it, in the place of what was read; what hangs on it is read again. */
import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { ChangeView as Change } from "../../api/schema";

export function useKeepChange(): (change: Change) => void {
  const queries = useQueryClient();
  return (change) => {
    const { queryKey } = api.queryOptions("get", "/api/v1/changes/{change}", {
      params: { path: { change: change.id } },
    });
    queries.setQueryData(queryKey, change);
    if (change.state === "open") {
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/changes/{change}/plan"] });
    }
    void queries.invalidateQueries({ queryKey: ["get", "/api/v1/changes"] });
  };
}
