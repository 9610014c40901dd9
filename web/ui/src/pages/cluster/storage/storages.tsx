/** Storages: how they are, where their data is, how pods see them, and what lies in them. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Link from "@cloudscape-design/components/link";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { api } from "../../../api/client";
import type { ClusterView } from "../../../api/schema";
import { useSession } from "../../../api/session";
import { type Column, Listing } from "../../../parts/listing";
import { Sources } from "../../../parts/sources";
import { t } from "../../../texts";
import { AddStorage } from "./add";
import { Browse } from "./browse";
import { RemoveStorage } from "./remove";
import { rowsOf, type StorageRow, signOf } from "./rows";

type Asked = { readonly deed: "add" } | { readonly deed: "remove"; readonly storage: StorageRow };
const words = t.storage;

export function Storages({ view: { cluster, desired } }: { readonly view: ClusterView }) {
  const { may } = useSession();
  const [search, setSearch] = useSearchParams();
  const params = { path: { cluster }, query: { stage: "storage" as const, limit: 500 } };
  const seen = api.useQuery("get", "/api/v1/clusters/{cluster}/resources", { params });
  const [asked, setAsked] = useState<Asked | null>(null);
  const rows = useMemo(
    () => rowsOf(cluster, desired.storages, seen.data?.items ?? []),
    [cluster, desired.storages, seen.data],
  );
  const open = desired.storages.find(({ name }) => name === search.get("storage"));
  const go = (storage: string | null, path = "") =>
    setSearch({ tab: "storage", ...(storage && { storage }), ...(path && { path }) });
  const mayPropose = may("propose");
  const columns = columnsOf(mayPropose, {
    browse: go,
    remove: (storage) => setAsked({ deed: "remove", storage }),
  });
  const add = (
    <Button
      onClick={() => setAsked({ deed: "add" })}
      disabled={!mayPropose}
      disabledReason={t.common.missingScope("propose")}
    >
      {words.actions.add}
    </Button>
  );
  return (
    <SpaceBetween size="l">
      <Sources parts={seen.data?.parts ?? []} />
      <Listing
        title={words.title}
        showTitle
        items={rows}
        isLoading={seen.isPending}
        columns={columns}
        trackBy={({ name }) => name}
        searchText={words.search}
        matches={words.matches}
        actions={add}
        empty={{ ...words.empty, action: add }}
        keep="storages"
      />
      {open && <Browse key={open.name} cluster={cluster} storage={open} path={search.get("path") ?? ""} onGo={go} />}
      {asked?.deed === "add" && (
        <AddStorage cluster={cluster} taken={rows.map(({ name }) => name)} onClose={() => setAsked(null)} />
      )}
      {asked?.deed === "remove" && (
        <RemoveStorage cluster={cluster} storage={asked.storage} onClose={() => setAsked(null)} />
      )}
    </SpaceBetween>
  );
}

interface Deeds {
  readonly browse: (storage: string) => void;
  readonly remove: (storage: StorageRow) => void;
}

function State({ row }: { readonly row: StorageRow }) {
  const { type, text } = signOf(row);
  const message = row.thing?.health === "healthy" ? "" : row.thing?.message;
  return (
    <SpaceBetween size="xxxs">
      <StatusIndicator type={type} wrapText>
        {text}
      </StatusIndicator>
      {Boolean(message) && (
        <Box variant="small" color="text-body-secondary">
          <span className="wrap-anywhere">{message}</span>
        </Box>
      )}
    </SpaceBetween>
  );
}

function columnsOf(mayPropose: boolean, deeds: Deeds): readonly [Column<StorageRow>, ...Column<StorageRow>[]] {
  return [
    {
      id: "name",
      header: words.columns.name,
      cell: ({ name, wish }) =>
        wish === null ? (
          name
        ) : (
          <Link
            fontSize="inherit"
            href={`?tab=storage&storage=${name}`}
            onFollow={(event) => {
              event.preventDefault();
              deeds.browse(name);
            }}
          >
            {name}
          </Link>
        ),
      value: ({ name }) => name,
      filter: true,
      width: 110,
    },
    {
      id: "state",
      header: words.columns.state,
      cell: (row) => <State row={row} />,
      value: (row) => signOf(row).text,
      width: 130,
      half: true,
    },
    {
      id: "bucket",
      header: words.columns.bucket,
      cell: ({ wish }) =>
        wish === null ? (
          t.common.unknown
        ) : (
          <>
            <span className="wrap-anywhere">
              {wish.bucket}/{wish.prefix}
            </span>
            <Box variant="small" color="text-body-secondary" display="block">
              {wish.own ? words.own : words.existing}, {wish.region}
            </Box>
          </>
        ),
      value: ({ wish }) => wish?.bucket,
      filter: true,
      width: 220,
    },
    {
      id: "claim",
      header: words.columns.claim,
      cell: ({ name, wish }) => (wish === null ? t.common.unknown : words.claim(name, wish.namespace)),
      value: ({ wish }) => wish?.namespace,
      width: 120,
      half: true,
    },
    {
      id: "access",
      header: words.columns.access,
      cell: ({ wish }) => (wish === null ? t.common.unknown : wish.read_only ? words.access.read : words.access.write),
      value: ({ wish }) => (wish?.read_only ? words.access.read : words.access.write),
      width: 110,
      half: true,
    },
    {
      id: "size",
      header: words.columns.size,
      cell: ({ wish }) => wish?.capacity || t.common.unknown,
      value: ({ wish }) => wish?.capacity,
      width: 80,
      half: true,
    },
    {
      id: "options",
      header: words.columns.options,
      cell: ({ wish }) => wish?.mount_options.join(", ") || t.common.none,
      value: ({ wish }) => wish?.mount_options.join(", "),
      width: 120,
      hidden: true,
    },
    {
      id: "actions",
      header: words.columns.actions,
      cell: (row) => (
        <ButtonDropdown
          variant="inline-icon"
          ariaLabel={words.actions.of(row.name)}
          expandToViewport
          disabled={row.wish === null}
          disabledReason={words.notAsked}
          items={[
            { id: "browse", text: words.actions.browse },
            {
              id: "remove",
              text: words.actions.remove,
              disabled: !mayPropose,
              disabledReason: t.common.missingScope("propose"),
            },
          ]}
          onItemClick={({ detail }) => (detail.id === "browse" ? deeds.browse(row.name) : deeds.remove(row))}
        />
      ),
      width: 80,
      half: true,
    },
  ];
}
