/** One action of a plan: what is done to what, what it costs, why it may not go, and each field before and after. */
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ActionView } from "../../api/schema";
import { t } from "../../texts";
import { valueText } from "../values";
import { Cost } from "./cost";

export function Action({ action }: { readonly action: ActionView }) {
  const { verb, type, name, held, notes, changes, document, where } = action;
  return (
    <div>
      <SpaceBetween direction="horizontal" size="xs" alignItems="center">
        <span className="wrap-anywhere">
          <strong>
            {t.plan.verbs[verb] ?? verb} {name}
          </strong>{" "}
          <Box variant="span" color="text-body-secondary">
            {type}
          </Box>
        </span>
        <Cost action={action} />
        {held && <StatusIndicator type="warning">{t.plan.held}</StatusIndicator>}
      </SpaceBetween>
      {held && (
        <Box variant="small" display="block">
          {held.message}
        </Box>
      )}
      {notes.map((note) => (
        <Box key={note} variant="small" display="block">
          {note}
        </Box>
      ))}
      {document && (
        <Box variant="small" color="text-body-secondary" display="block">
          {t.plan.asked} {document}
          {where && `, ${where}`}
        </Box>
      )}
      {changes.length > 0 && (
        <ul className="plain-list wrap-anywhere">
          {changes.map(({ path, before, after }) => (
            <li key={path}>
              {path.slice(1).replaceAll("/", ".")}: <Box variant="code">{valueText(before, t.plan.absent)}</Box> →{" "}
              <Box variant="code">{valueText(after, t.plan.absent)}</Box>
            </li>
          ))}
        </ul>
      )}
      <Wanted action={action} />
    </div>
  );
}

/** Of a new thing all that is written, on demand: it is long, and mostly ours. */
function Wanted({ action: { changes, want, verb, name } }: { readonly action: ActionView }) {
  if (changes.length > 0 || want === undefined || Object.keys(want).length === 0) return null;
  return (
    <ExpandableSection
      headerText={t.plan.details}
      headerAriaLabel={`${t.plan.details}: ${verb} ${name}`}
      variant="inline"
    >
      <pre className="plain-text">{JSON.stringify(want, null, 2)}</pre>
    </ExpandableSection>
  );
}
