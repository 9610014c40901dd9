/** Actions that may not go before somebody says so: why, who may, and the order that does it. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { ClusterView, HeldView, NewOrder } from "../../api/schema";
import { useSession } from "../../api/session";
import { Ago } from "../../parts/times";
import { t } from "../../texts";
import { GiveOrder } from "./order";

const words = t.cluster.held;
type Asked = readonly HeldView[];

export function Held({ view: { cluster, held } }: { readonly view: ClusterView }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const order = asked?.[0]?.order;
  return (
    <Container
      header={
        <Header variant="h2" counter={`(${held.length})`}>
          {words.title}
        </Header>
      }
    >
      <SpaceBetween size="l">
        {alike(held).map((group) => (
          <Group key={wordOf(group[0])} group={group} onAsk={setAsked} />
        ))}
      </SpaceBetween>
      {asked !== null && order != null && (
        <GiveOrder
          cluster={cluster}
          order={order as NewOrder["do"]}
          subjects={asked.map(({ subject }) => subject)}
          says={asked.map((one) => (asked.length > 1 ? one.key : one.message || one.key))}
          onDone={() => setAsked(null)}
        />
      )}
    </Container>
  );
}

type Several = readonly [HeldView, ...HeldView[]];

/** What waits for the same reason and the same word is one thing to a person. */
export function alike(held: readonly HeldView[]): readonly Several[] {
  const found = new Map<string, Several>();
  for (const one of held) {
    const name = wordOf(one);
    const before = found.get(name);
    found.set(name, before === undefined ? [one] : [...before, one]);
  }
  return [...found.values()];
}

const wordOf = ({ reason, message, order, who }: HeldView) => JSON.stringify([reason, message, order, who]);
const nameOf = ({ key, action }: HeldView) => `${key} ${action}`;

function Group({ group, onAsk }: { readonly group: Several; readonly onAsk: (asked: Asked) => void }) {
  const [first] = group;
  return (
    <div>
      <StatusIndicator type="warning" wrapText>
        {first.message || first.key}
      </StatusIndicator>
      {group.length === 1 && <Since of={first} />}
      <Box>
        {words.who}: {first.who}
      </Box>
      {first.order == null ? (
        <Box color="text-body-secondary">{words.seeChange}</Box>
      ) : (
        <Box padding={{ top: "xs" }}>
          <Let group={group} onAsk={onAsk} />
        </Box>
      )}
      {group.length > 1 && (
        <ExpandableSection headerText={words.each(group.length)}>
          <ul className="bare-list">
            {group.map((one) => (
              <li key={nameOf(one)}>
                <Since of={one} />
                {one.order != null && <Let group={[one]} onAsk={onAsk} />}
              </li>
            ))}
          </ul>
        </ExpandableSection>
      )}
    </div>
  );
}

function Since({ of: { key, since } }: { readonly of: HeldView }) {
  return (
    <Box variant="small" color="text-body-secondary" display="block">
      <span className="wrap-anywhere">{key}</span>
      {since && (
        <>
          , {words.since} <Ago at={since} />
        </>
      )}
    </Box>
  );
}

function Let({ group, onAsk }: { readonly group: Several; readonly onAsk: (asked: Asked) => void }) {
  const { may } = useSession();
  const [first, ...rest] = group;
  const name = t.cluster.orders.do[first.order as NewOrder["do"]];
  return (
    <Button
      onClick={() => onAsk(group)}
      disabled={!may("approve")}
      disabledReason={t.common.missingScope("approve")}
      ariaLabel={rest.length > 0 ? undefined : `${name}: ${first.key}`}
    >
      {rest.length > 0 ? words.all(name, group.length) : name}
    </Button>
  );
}
