/** What can be done with a change. Each is asked before; every one names the head that the person saw. */
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { ChangeView as Change } from "../../api/schema";
import { useSession } from "../../api/session";
import { t } from "../../texts";
import { Ask } from "./ask";
import { type Deed, type Deeds, deedsOf } from "./deeds";

const REST: readonly Deed[] = ["object", "withdraw", "rebase", "close"];

export function Actions({ change }: { readonly change: Change }) {
  const session = useSession();
  const [asked, setAsked] = useState<Deed | null>(null);
  const deeds = deedsOf(change, session);
  const rest = REST.filter((deed) => deed in deeds);
  return (
    <>
      <SpaceBetween direction="horizontal" size="xs">
        {rest.length > 0 && (
          <ButtonDropdown
            items={rest.map((id) => ({
              id,
              text: t.change.actions[id],
              disabled: deeds[id] !== null,
              disabledReason: deeds[id] ?? undefined,
            }))}
            onItemClick={({ detail }) => setAsked(detail.id as Deed)}
          >
            {t.change.actions.more}
          </ButtonDropdown>
        )}
        <Do deed="approve" deeds={deeds} onAsk={setAsked} />
        <Do deed="merge" deeds={deeds} onAsk={setAsked} isPrimary />
        <Do deed="revert" deeds={deeds} onAsk={setAsked} />
      </SpaceBetween>
      {asked !== null && <Ask key={asked} deed={asked} change={change} onDone={() => setAsked(null)} />}
    </>
  );
}

interface DoProps {
  readonly deed: Deed;
  readonly deeds: Deeds;
  readonly onAsk: (deed: Deed) => void;
  readonly isPrimary?: boolean;
}

function Do({ deed, deeds, onAsk, isPrimary = false }: DoProps) {
  const why = deeds[deed];
  if (why === undefined) return null;
  return (
    <Button
      variant={isPrimary ? "primary" : "normal"}
      disabled={why !== null}
      disabledReason={why ?? undefined}
      onClick={() => onAsk(deed)}
    >
      {t.change.actions[deed]}
    </Button>
  );
}
