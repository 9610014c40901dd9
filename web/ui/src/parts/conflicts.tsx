/** What two people wrote at the same place: both values, and who was first. */
import Box from "@cloudscape-design/components/box";
import Table from "@cloudscape-design/components/table";
import type { FieldConflict } from "../api/schema";
import { t } from "../texts";
import { valueText } from "./values";

export function Conflicts({ found }: { readonly found: readonly FieldConflict[] }) {
  const words = t.change.conflicts;
  const value = (told: unknown) => (
    <span className="wrap-anywhere">
      <Box variant="code">{valueText(told, t.plan.absent)}</Box>
    </span>
  );
  return (
    <Table
      variant="embedded"
      wrapLines
      items={found}
      trackBy={({ path, document, field }) => `${path} ${document} ${field}`}
      ariaLabels={{ tableLabel: words.title }}
      columnDefinitions={[
        {
          id: "field",
          header: words.field,
          isRowHeader: true,
          cell: ({ path, document, field }) => (
            <>
              <div className="wrap-anywhere">{field || document || path}</div>
              <Box variant="small" color="text-body-secondary">
                {document || path}
              </Box>
            </>
          ),
        },
        { id: "base", header: words.base, cell: ({ base }) => value(base) },
        { id: "yours", header: words.yours, cell: ({ yours }) => value(yours) },
        { id: "theirs", header: words.theirs, cell: ({ theirs }) => value(theirs) },
        { id: "by", header: words.by, cell: ({ by }) => by || t.common.unknown },
      ]}
    />
  );
}
