/** The bar above everything: the product, how it looks, who one is. */
import type { ButtonDropdownProps } from "@cloudscape-design/components/button-dropdown";
import TopNavigation from "@cloudscape-design/components/top-navigation";
import { useLogOut, useSession } from "../api/session";
import { t } from "../texts";
import { changeLook, type DensityChoice, type ModeChoice, useLook } from "./look";
import { useFollow } from "./route-link";

const MODES: readonly ModeChoice[] = ["system", "light", "dark"];
const DENSITIES: readonly DensityChoice[] = ["comfortable", "compact"];

export const TOP_BAR = "top-bar";

export function TopBar() {
  const follow = useFollow();
  const logOut = useLogOut();
  const { who } = useSession();
  const look = useLook();
  const looks: ButtonDropdownProps.ItemOrGroup[] = [
    {
      text: t.frame.mode,
      items: MODES.map((mode) => checkbox(`mode ${mode}`, t.frame.modes[mode], look.mode === mode)),
    },
    {
      text: t.frame.density,
      items: DENSITIES.map((density) =>
        checkbox(`density ${density}`, t.frame.densities[density], look.density === density),
      ),
    },
  ];
  function choose(id: string) {
    const [what, value] = id.split(" ");
    changeLook(what === "mode" ? { mode: value as ModeChoice } : { density: value as DensityChoice });
  }
  return (
    <div id={TOP_BAR} className="frame-top">
      <TopNavigation
        identity={{
          href: "/",
          title: t.common.product,
          onFollow: (event) => follow(Object.assign(event, { detail: { href: "/" } })),
        }}
        i18nStrings={{ overflowMenuTriggerText: t.frame.more, overflowMenuTitleText: t.frame.moreTitle }}
        utilities={[
          {
            type: "menu-dropdown",
            iconName: "settings",
            ariaLabel: t.frame.settings,
            title: t.frame.settings,
            items: looks,
            onItemClick: ({ detail }) => choose(detail.id),
          },
          {
            type: "menu-dropdown",
            iconName: "user-profile",
            text: who.name,
            description: t.frame.scopes(who.scopes.join(", ")),
            items: [{ id: "log-out", text: t.frame.logOut, disabled: who.via !== "session" }],
            onItemClick: () => void logOut(),
          },
        ]}
      />
    </div>
  );
}

function checkbox(id: string, text: string, checked: boolean): ButtonDropdownProps.CheckboxItem {
  return { id, text, itemType: "checkbox", checked };
}
