/** A page that broke: told in place, with a way on, while the frame around it goes on working. */
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import { useRouteError } from "react-router";
import { t } from "../texts";
import { Page } from "./page";

export function Broken() {
  const error = useRouteError();
  const text = error instanceof Error ? error.message : String(error);
  return (
    <Page title={t.frame.broken.title}>
      <Alert type="error" action={<Button onClick={() => globalThis.location.reload()}>{t.common.reload}</Button>}>
        {isOldPage(text) ? t.frame.broken.newVersion : t.frame.broken.text}
        <ExpandableSection headerText={t.frame.broken.details}>
          <Box variant="code">{text}</Box>
        </ExpandableSection>
      </Alert>
    </Page>
  );
}

/** A part of the page was asked for under a name that a newer build does not have. */
function isOldPage(message: string): boolean {
  return /dynamically imported module|Importing a module script failed|Unable to preload/i.test(message);
}
