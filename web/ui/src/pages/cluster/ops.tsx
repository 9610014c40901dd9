/** What was sent and is not over, what did not work, and words to the engine that it has not taken up yet. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { ClusterView, NewOrder, OpView } from "../../api/schema";
import { useSession } from "../../api/session";
import { Ago, Due } from "../../parts/times";
import { t } from "../../texts";
import { GiveOrder } from "./order";

const words = t.cluster.failed;
type Asked = { readonly op: OpView; readonly order: NewOrder["do"] };

export function Ops({ view }: { readonly view: ClusterView }) {
  const { cluster, failed_ops, open_ops, orders } = view;
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <Container header={<Header variant="h2">{failed_ops.length > 0 ? words.title : words.open}</Header>}>
      <SpaceBetween size="m">
        {failed_ops.map((op) => (
          <Op key={op.op} op={op} order="retry" onAsk={(order) => setAsked({ op, order })} />
        ))}
        {open_ops.map((op) => (
          <Op
            key={op.op}
            op={op}
            order={op.phase === "unknown" ? "resolve" : null}
            onAsk={(order) => setAsked({ op, order })}
          />
        ))}
        {orders.map(({ id, do: what, subject, by, why }) => (
          <div key={id} className="wrap-anywhere">
            <StatusIndicator type="pending">
              {t.cluster.orders.title}: {t.cluster.orders.do[what as NewOrder["do"]] ?? what}, {nameOf(subject, view)},{" "}
              {t.cluster.orders.by(by)}
            </StatusIndicator>
            <Box variant="small" display="block">
              {why}
            </Box>
          </div>
        ))}
      </SpaceBetween>
      {asked !== null && (
        <GiveOrder
          cluster={cluster}
          order={asked.order}
          subjects={[asked.op.op]}
          says={[words.op(asked.op.call, asked.op.key)]}
          onDone={() => setAsked(null)}
        />
      )}
    </Container>
  );
}

/** An order is about an op, an action by its digest, a stage or a key; people know the key. */
function nameOf(subject: string, { failed_ops, open_ops, held }: ClusterView): string {
  const op = [...failed_ops, ...open_ops].find((one) => one.op === subject);
  const hold = held.find(({ action }) => action !== "" && subject.startsWith(action));
  return op?.key ?? hold?.key ?? t.stages[subject] ?? subject;
}

interface OpProps {
  readonly op: OpView;
  readonly order: NewOrder["do"] | null;
  readonly onAsk: (order: NewOrder["do"]) => void;
}

function Op({ op: { call, key, phase, attempt, since, next, reason, msg }, order, onAsk }: OpProps) {
  const { may } = useSession();
  return (
    <div className="wrap-anywhere">
      <StatusIndicator type={order === "retry" ? "error" : order === "resolve" ? "warning" : "in-progress"} wrapText>
        {words.op(call, key)}: {words.phases[phase] ?? phase}
      </StatusIndicator>
      <Box variant="small" color="text-body-secondary" display="block">
        {words.attempt(attempt)}
        {since && (
          <>
            , <Ago at={since} />
          </>
        )}
        {next && (
          <>
            , {words.next} <Due at={next} />
          </>
        )}
      </Box>
      {(msg || reason) && <div>{msg || reason}</div>}
      {order !== null && (
        <Box padding={{ top: "xs" }}>
          <Button
            onClick={() => onAsk(order)}
            disabled={!may("operate")}
            disabledReason={t.common.missingScope("operate")}
            ariaLabel={`${t.cluster.orders.do[order]}: ${key}`}
          >
            {t.cluster.orders.do[order]}
          </Button>
        </Box>
      )}
    </div>
  );
}
