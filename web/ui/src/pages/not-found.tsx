import SpaceBetween from "@cloudscape-design/components/space-between";
import { Page } from "../frame/page";
import { RouteButton } from "../frame/route-link";
import { t } from "../texts";

export function Component() {
  return (
    <Page title={t.frame.notFound.title}>
      <SpaceBetween size="m">
        <div>{t.frame.notFound.text}</div>
        <RouteButton to="/">{t.frame.notFound.way}</RouteButton>
      </SpaceBetween>
    </Page>
  );
}
