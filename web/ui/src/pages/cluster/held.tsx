/** Actions that may not go before somebody says so: why, who may, and the order that does it. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { ClusterView, ReconcilerReadsClustersHeldView as HeldView, NewOrder } from "../../api/schema";
import { useSession } from "../../api/session";
import { Ago } from "../../parts/times";
import { t } from "../../texts";
import { GiveOrder } from "./order";

const words = t.cluster.held;

export function Held({ view: { cluster, held } }: { readonly view: ClusterView }) {
  const { may } = useSession();
  const [asked, setAsked] = useState<HeldView | null>(null);
  return (
    <Container
      header={
        <Header variant="h2" counter={`(${held.length})`}>
          {words.title}
        </Header>
      }
    >
      <SpaceBetween size="l">
        {held.map((one) => (
          <div key={`${one.key} ${one.action}`}>
            <StatusIndicator type="warning" wrapText>
              {one.message || one.key}
            </StatusIndicator>
            <Box variant="small" color="text-body-secondary" display="block">
              <span className="wrap-anywhere">{one.key}</span>
              {one.since && (
                <>
                  , {words.since} <Ago at={one.since} />
                </>
              )}
            </Box>
            <Box>
              {words.who}: {one.who}
            </Box>
            {one.order == null ? (
              <Box color="text-body-secondary">{words.seeChange}</Box>
            ) : (
              <Box padding={{ top: "xs" }}>
                <Button
                  onClick={() => setAsked(one)}
                  disabled={!may("approve")}
                  disabledReason={t.common.missingScope("approve")}
                  ariaLabel={`${t.cluster.orders.do[one.order as NewOrder["do"]]}: ${one.key}`}
                >
                  {t.cluster.orders.do[one.order as NewOrder["do"]]}
                </Button>
              </Box>
            )}
          </div>
        ))}
      </SpaceBetween>
      {asked?.order != null && (
        <GiveOrder
          cluster={cluster}
          order={asked.order as NewOrder["do"]}
          subject={asked.subject}
          says={asked.message || asked.key}
          onDone={() => setAsked(null)}
        />
      )}
    </Container>
  );
}
