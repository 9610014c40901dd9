/** What is told of each change: what it is, how it stands, who wants it, and what it waits for. */
import Box from "@cloudscape-design/components/box";
import type { ChangeSummary } from "../../api/schema";
import { RouteLink } from "../../frame/route-link";
import type { Column } from "../../parts/listing";
import { Ago } from "../../parts/times";
import { t } from "../../texts";
import { ListedChecks } from "./checks";
import { StateSign } from "./state";

const words = t.changes.columns;

export const columns: readonly [Column<ChangeSummary>, ...Column<ChangeSummary>[]] = [
  {
    id: "title",
    header: words.title,
    cell: ({ id, title }) => (
      <span className="wrap-anywhere">
        <RouteLink to={`/changes/${id}`} fontSize="inherit">
          {title}
        </RouteLink>
      </span>
    ),
    value: ({ title }) => title,
    filter: true,
    width: 160,
  },
  {
    id: "state",
    header: words.state,
    cell: ({ state }) => <StateSign state={state} />,
    value: ({ state }) => t.changes.states[state],
    width: 90,
    half: true,
  },
  {
    id: "checks",
    header: words.checks,
    cell: (line) => <ListedChecks change={line} />,
    width: 200,
    half: true,
  },
  {
    id: "by",
    header: words.by,
    cell: ({ proposed_by, kind, on_behalf_of }) => (
      <div className="wrap-anywhere">
        {kind === "agent" ? t.change.facts.agent(proposed_by) : proposed_by}
        {on_behalf_of && (
          <Box variant="small" color="text-body-secondary" display="block">
            {t.changes.onBehalf(on_behalf_of)}
          </Box>
        )}
      </div>
    ),
    value: ({ proposed_by }) => proposed_by,
    filter: true,
    width: 130,
  },
  {
    id: "clusters",
    header: words.clusters,
    cell: ({ clusters }) => clusters.join(", ") || t.common.none,
    value: ({ clusters }) => clusters.join(", "),
    filter: true,
    width: 85,
    half: true,
  },
  {
    id: "reviews",
    header: words.reviews,
    cell: ({ approvals, objections, comments }) =>
      [t.changes.reviews(approvals, objections), comments > 0 ? t.changes.comments(comments) : ""]
        .filter(Boolean)
        .join(", ") || t.common.none,
    value: ({ approvals }) => approvals,
    width: 90,
    half: true,
  },
  {
    id: "updated",
    header: words.updated,
    cell: ({ updated_at }) => <Ago at={updated_at} />,
    value: ({ updated_at }) => updated_at,
    width: 95,
    half: true,
  },
  {
    id: "opened",
    header: words.opened,
    cell: ({ opened_at }) => <Ago at={opened_at} />,
    value: ({ opened_at }) => opened_at,
    hidden: true,
    width: 120,
    half: true,
  },
];
