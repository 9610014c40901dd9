/** Who wanted a commit, who let it pass, and when it was: a merge is written down by us, and asked for by somebody. */
import Box from "@cloudscape-design/components/box";
import type { AuthorView } from "../api/schema";
import { t } from "../texts";
import { Ago } from "./times";

export function WrittenBy({ of: { name, at, proposed_by, approved_by } }: { readonly of: AuthorView }) {
  return (
    <Box variant="small" color="text-body-secondary" display="block">
      {proposed_by || name}, <Ago at={at} by="world" />
      {approved_by.length > 0 && `, ${t.common.approved(approved_by.join(", "))}`}
    </Box>
  );
}
