/** The list of pages. What it holds is said in pages.ts. */
import SideNavigation, { type SideNavigationProps } from "@cloudscape-design/components/side-navigation";
import { useLocation } from "react-router";
import { sections } from "../pages";
import { t } from "../texts";
import { useFollow } from "./route-link";

export function SideBar({ onLeave }: { readonly onLeave: () => void }) {
  const follow = useFollow();
  const { pathname } = useLocation();
  return (
    <SideNavigation
      activeHref={activeOf(pathname)}
      header={{ href: "/", text: t.common.product }}
      items={items()}
      onFollow={(event) => {
        follow(event);
        onLeave();
      }}
    />
  );
}

/** The entry whose page, or a page below it, is shown. */
function activeOf(pathname: string): string {
  const hrefs = sections.flatMap(({ entries }) => entries.map(({ href }) => href));
  const fits = hrefs.filter((href) => pathname === href || (href !== "/" && pathname.startsWith(`${href}/`)));
  return fits[0] ?? (pathname.startsWith("/clusters") ? "/" : "");
}

function items(): SideNavigationProps.Item[] {
  return sections.flatMap(({ title, entries }): SideNavigationProps.Item[] => {
    const links = entries.map(({ href, text }): SideNavigationProps.Link => ({ type: "link", href, text }));
    return title === null ? links : [{ type: "divider" }, { type: "section-group", title, items: links }];
  });
}
