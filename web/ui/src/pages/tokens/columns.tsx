import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { TokenView } from "../../api/schema";
import { useWorldNow } from "../../live/ticker";
import type { Column } from "../../parts/listing";
import { Ago, Due, dayOf } from "../../parts/times";
import { t } from "../../texts";

export function columnsOf(revoke: (token: TokenView) => void): readonly [Column<TokenView>, ...Column<TokenView>[]] {
  return [
    {
      id: "name",
      header: t.tokens.columns.name,
      cell: ({ name, kind }) => (
        <>
          <span className="wrap-anywhere">{name}</span>
          <Box variant="small" color="text-body-secondary" display="block">
            {t.tokens.kinds[kind]}
          </Box>
        </>
      ),
      value: ({ name }) => name,
      filter: true,
      width: 190,
    },
    {
      id: "kind",
      header: t.tokens.columns.kind,
      cell: ({ kind }) => t.tokens.kinds[kind],
      value: ({ kind }) => t.tokens.kinds[kind],
      filter: true,
      hidden: true,
      width: 90,
    },
    {
      id: "scopes",
      header: t.tokens.columns.scopes,
      cell: ({ scopes, reach }) => (
        <>
          <SpaceBetween direction="horizontal" size="xxs">
            {scopes.map((scope) => (
              <Badge key={scope}>{scope}</Badge>
            ))}
          </SpaceBetween>
          <Reaches paths={reach.paths} kinds={reach.kinds} />
        </>
      ),
      value: ({ scopes }) => scopes.join(" "),
      width: 180,
    },
    {
      id: "created",
      header: t.tokens.columns.created,
      cell: ({ created, created_by }) => (
        <>
          <Ago at={created} by="world" />
          <Box variant="small" color="text-body-secondary" display="block">
            <span className="wrap-anywhere">{t.tokens.columns.by(created_by)}</span>
          </Box>
        </>
      ),
      value: ({ created }) => created,
      width: 140,
    },
    {
      id: "expires",
      header: t.tokens.columns.expires,
      cell: ({ expires }) => <Expires at={expires ?? null} />,
      value: ({ expires }) => expires ?? undefined,
      width: 110,
      half: true,
    },
    {
      id: "used",
      header: t.tokens.columns.used,
      cell: ({ last_used }) =>
        last_used == null ? <Box color="text-body-secondary">{t.common.never}</Box> : <Ago at={last_used} by="world" />,
      value: ({ last_used }) => last_used ?? undefined,
      width: 110,
      half: true,
    },
    {
      id: "actions",
      header: t.tokens.columns.actions,
      cell: (token) => (
        <Button variant="inline-link" ariaLabel={`${t.tokens.revoke} ${token.name}`} onClick={() => revoke(token)}>
          {t.tokens.revoke}
        </Button>
      ),
      width: 80,
    },
  ];
}

function Reaches({ paths, kinds }: { readonly paths: readonly string[]; readonly kinds: readonly string[] }) {
  const parts = [paths.join(", "), kinds.join(", ")].filter((part) => part !== "");
  if (parts.length === 0) return null;
  return (
    <Box variant="small" color="text-body-secondary" display="block">
      <span className="wrap-anywhere">{t.tokens.reaches(parts.join("; "))}</span>
    </Box>
  );
}

function Expires({ at }: { readonly at: string | null }) {
  const now = useWorldNow();
  if (at === null) return <StatusIndicator type="warning">{t.common.never}</StatusIndicator>;
  if (Date.parse(at) <= now) return <StatusIndicator type="stopped">{t.tokens.over}</StatusIndicator>;
  return (
    <>
      <Due at={at} by="world" />
      <Box variant="small" color="text-body-secondary" display="block">
        {dayOf(at)}
      </Box>
    </>
  );
}
