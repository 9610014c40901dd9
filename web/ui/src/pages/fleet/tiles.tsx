/** The fleet in four numbers. */
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import type { SummaryView } from "../../api/schema";
import { t } from "../../texts";
import { needsAttention } from "./attention";

export function Tiles({ clusters }: { readonly clusters: readonly SummaryView[] }) {
  const ready = clusters.filter(({ condition }) => condition === "Ready").length;
  const attention = clusters.filter(needsAttention).length;
  const working = clusters.filter(({ condition }) => condition === "Reconciling").length;
  return (
    <Container>
      <ColumnLayout columns={4} variant="text-grid" minColumnWidth={130}>
        <Tile name={t.fleet.tiles.clusters} value={number(clusters.length)} said={t.fleet.tiles.ready(ready)} />
        <Tile
          name={t.fleet.tiles.attention}
          value={number(attention)}
          said={attention > 0 ? t.fleet.tiles.attentionSome : t.fleet.tiles.attentionNone}
          isBad={attention > 0}
        />
        <Tile
          name={t.fleet.tiles.working}
          value={number(working)}
          said={working > 0 ? t.fleet.tiles.workingSome : t.fleet.tiles.workingNone}
        />
        <Gpus clusters={clusters} />
      </ColumnLayout>
    </Container>
  );
}

function Gpus({ clusters }: { readonly clusters: readonly SummaryView[] }) {
  const known = clusters.map(({ gpus }) => gpus).filter(({ used, ready }) => used != null && ready != null);
  const partly = known.length < clusters.length ? t.fleet.tiles.gpusPartly : "";
  const ready = sum(known.map((gpus) => gpus.ready ?? 0));
  if (known.length === 0) return <Tile name={t.fleet.tiles.gpus} value={t.fleet.tiles.gpusUnknown} said={partly} />;
  if (ready === 0) return <Tile name={t.fleet.tiles.gpus} value="0" said={partly || t.fleet.tiles.gpusNone} />;
  const used = sum(known.map((gpus) => gpus.used ?? 0));
  const idle = t.fleet.tiles.gpusIdle(sum(known.map((gpus) => gpus.idle ?? 0)));
  const said = partly ? `${idle}. ${partly}` : idle;
  return <Tile name={t.fleet.tiles.gpus} value={t.fleet.gpus.used(used, ready)} said={said} />;
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly said: string;
  readonly isBad?: boolean;
}

function Tile({ name, value, said, isBad = false }: TileProps) {
  return (
    <div>
      <Box variant="awsui-key-label">{name}</Box>
      <Box variant="awsui-value-large" color={isBad ? "text-status-error" : undefined}>
        {value}
      </Box>
      <Box variant="small" color="text-body-secondary" display="block">
        {said}
      </Box>
    </div>
  );
}

const number = (value: number) => value.toLocaleString(t.locale);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
