/** What somebody may do with a change now, and what is in the way of it, before the API is asked. */
import type { ChangeView as Change } from "../../api/schema";
import type { Session } from "../../api/session";
import { t } from "../../texts";

export type Deed = "approve" | "object" | "withdraw" | "merge" | "close" | "revert" | "rebase";

/** By deed: null, or why it cannot be done. What makes no sense in the change's state is absent. */
export type Deeds = Partial<Record<Deed, string | null>>;

export function deedsOf(change: Change, { who, may }: Session): Deeds {
  const needs = (scope: "propose" | "approve") => (may(scope) ? null : t.common.missingScope(scope));
  if (change.state === "merged") return { revert: needs("propose") };
  if (change.state === "closed") return {};
  const refused = change.checks.find(({ state }) => state === "failed");
  const hasReviewed = change.events.some(
    ({ by, what }) => by === who.name && (what === "approve" || what === "request-changes"),
  );
  return {
    approve:
      needs("approve") ??
      (refused
        ? t.change.refused(refused.says[0] ?? refused.name)
        : change.plan == null
          ? t.change.notMergeable
          : null),
    object: needs("approve"),
    ...(hasReviewed && { withdraw: needs("approve") }),
    merge: needs("propose") ?? (change.mergeable ? null : t.change.notMergeable),
    rebase: needs("propose"),
    close: needs("propose"),
  };
}
