/** What stands around every page: bars, breadcrumbs, notices, and the word that something may be old. */
import AppLayoutToolbar from "@cloudscape-design/components/app-layout-toolbar";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Flashbar from "@cloudscape-design/components/flashbar";
import LiveRegion from "@cloudscape-design/components/live-region";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Suspense, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { flashes, useNotices } from "../live/notices";
import { t } from "../texts";
import { Opening } from "./opening";
import { usePlace } from "./page-place";
import { useFollow } from "./route-link";
import { SideBar } from "./side-bar";
import { SplitPanelPlace, useSplitPanelContent } from "./split-panel";
import { StaleBanner } from "./stale-banner";
import { TOP_BAR, TopBar } from "./top-bar";

const WIDE = 1100; // pixels: below, the list of pages opens only when asked for

export function Shell() {
  return (
    <SplitPanelPlace>
      <TopBar />
      <Layout />
    </SplitPanelPlace>
  );
}

function Layout() {
  const [navigationOpen, setNavigationOpen] = useState(() => globalThis.innerWidth >= WIDE);
  const { panel, isOpen, setOpen } = useSplitPanelContent();
  const notices = useNotices();
  const navigate = useNavigate();
  return (
    <AppLayoutToolbar
      headerSelector={`#${TOP_BAR}`}
      ariaLabels={{
        navigation: t.frame.navigation,
        navigationToggle: t.frame.openNavigation,
        navigationClose: t.frame.closeNavigation,
        notifications: t.frame.notices,
      }}
      breadcrumbs={<Breadcrumbs />}
      navigation={<SideBar onLeave={() => setNavigationOpen((open) => open && globalThis.innerWidth >= WIDE)} />}
      navigationOpen={navigationOpen}
      navigationWidth={220}
      onNavigationChange={({ detail }) => setNavigationOpen(detail.open)}
      toolsHide
      stickyNotifications
      notifications={<Flashbar stackItems items={flashes(notices, (to) => void navigate(to))} />}
      splitPanel={panel}
      splitPanelOpen={isOpen}
      onSplitPanelToggle={({ detail }) => setOpen(detail.open)}
      content={<Content />}
    />
  );
}

function Content() {
  const { pathname } = useLocation();
  const { title } = usePlace();
  return (
    <SpaceBetween size="m">
      <StaleBanner />
      <Suspense key={pathname} fallback={<Opening />}>
        <Outlet />
      </Suspense>
      <LiveRegion hidden>{title}</LiveRegion>
    </SpaceBetween>
  );
}

function Breadcrumbs() {
  const { title, above } = usePlace();
  const follow = useFollow();
  const { pathname } = useLocation();
  return (
    <BreadcrumbGroup
      ariaLabel={t.frame.breadcrumbs}
      items={[...above, { text: title, href: pathname }]}
      onFollow={follow}
    />
  );
}
