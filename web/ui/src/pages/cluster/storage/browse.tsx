/** What lies in a Storage, folder by folder, as pods see it below the mount. */
import Box from "@cloudscape-design/components/box";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import Icon from "@cloudscape-design/components/icon";
import Link from "@cloudscape-design/components/link";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { api } from "../../../api/client";
import { everyPage } from "../../../api/lists";
import type { StorageWish, StoredView } from "../../../api/schema";
import { ProblemAlert } from "../../../frame/problem-alert";
import { Empty } from "../../../parts/listing";
import { usePhone } from "../../../parts/phone";
import { sizeText } from "../../../parts/sizes";
import { Ago } from "../../../parts/times";
import { t } from "../../../texts";
import { foldersTo, mounting } from "./wish";

interface BrowseProps {
  readonly cluster: string;
  readonly storage: StorageWish;
  readonly path: string;
  readonly onGo: (storage: string | null, path?: string) => void;
}

const words = t.storage.browse;

export function Browse({ cluster, storage, path, onGo }: BrowseProps) {
  const isPhone = usePhone();
  const params = { path: { cluster, storage: storage.name }, query: { limit: 100, path } };
  const query = api.useInfiniteQuery(
    "get",
    "/api/v1/clusters/{cluster}/storages/{storage}/objects",
    { params },
    everyPage,
  );
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } =
    query;
  const items: readonly StoredView[] = data?.pages.flatMap((page) => page.items) ?? [];
  const [top, ...folders] = foldersTo(storage.name, path);
  return (
    <SpaceBetween size="m">
      <Table
        variant="container"
        wrapLines
        items={items}
        loading={data === undefined && !error}
        loadingText={t.common.loading}
        trackBy={({ kind, path: at }) => `${kind} ${at}`}
        ariaLabels={{ tableLabel: words.title(storage.name) }}
        header={
          <Header
            variant="h2"
            counter={data && words.shown(items.length, !hasNextPage)}
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  iconName="refresh"
                  ariaLabel={words.again}
                  loading={isFetching && !isFetchingNextPage && data !== undefined}
                  onClick={() => void refetch()}
                />
                <Button iconName="close" variant="icon" ariaLabel={words.close} onClick={() => onGo(null)} />
              </SpaceBetween>
            }
          >
            {words.title(storage.name)}
          </Header>
        }
        filter={
          <BreadcrumbGroup
            ariaLabel={words.place}
            items={[top, ...folders].flatMap((folder) =>
              folder === undefined
                ? []
                : [{ text: folder.name, href: addressOf(storage.name, folder.path), path: folder.path }],
            )}
            onFollow={(event) => {
              event.preventDefault();
              onGo(storage.name, event.detail.item.path);
            }}
          />
        }
        empty={
          error ? (
            <ProblemAlert error={error} title={words.failed} onRetry={() => void refetch()} />
          ) : (
            <Empty title={words.empty.title} text={words.empty.text} />
          )
        }
        footer={
          hasNextPage || isFetchNextPageError ? (
            <SpaceBetween size="s">
              {isFetchNextPageError && <ProblemAlert error={error} title={words.failedMore} />}
              <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {words.more}
              </Button>
            </SpaceBetween>
          ) : undefined
        }
        columnDefinitions={[
          {
            id: "name",
            header: words.columns.name,
            isRowHeader: true,
            minWidth: 120,
            cell: (item) => <Name storage={storage.name} item={item} onOpen={() => onGo(storage.name, item.path)} />,
          },
          {
            id: "size",
            header: words.columns.size,
            minWidth: 75,
            cell: ({ kind, bytes }) => (kind === "folder" ? "–" : bytes == null ? t.common.unknown : sizeText(bytes)),
          },
          {
            id: "modified",
            header: words.columns.modified,
            minWidth: 90,
            cell: ({ kind, modified }) =>
              kind === "folder" ? "–" : modified ? <Ago at={modified} by="world" /> : t.common.unknown,
          },
          {
            id: "class",
            header: words.columns.kind,
            minWidth: 100,
            cell: ({ storage_class }) => storage_class ?? "–",
          },
        ]}
        columnDisplay={["name", "size", "modified", "class"].map((id) => ({ id, visible: id !== "class" || !isPhone }))}
      />
      <ExpandableSection variant="container" headerText={words.mount}>
        <SpaceBetween size="s">
          <Box>{words.mountText(storage.namespace)}</Box>
          <pre className="plain-text">{mounting(storage.name, storage.read_only)}</pre>
          <CopyToClipboard
            copyButtonText={words.copy}
            copySuccessText={t.common.copied}
            copyErrorText={t.common.copyFailed}
            textToCopy={mounting(storage.name, storage.read_only)}
          />
        </SpaceBetween>
      </ExpandableSection>
    </SpaceBetween>
  );
}

function Name({
  storage,
  item: { kind, name, path },
  onOpen,
}: {
  readonly storage: string;
  readonly item: StoredView;
  readonly onOpen: () => void;
}) {
  if (kind === "file") {
    return (
      <>
        <Icon name="file" /> <span className="wrap-anywhere">{name}</span>
      </>
    );
  }
  return (
    <>
      <Icon name="folder" />{" "}
      <Link
        href={addressOf(storage, path)}
        ariaLabel={words.open(name)}
        onFollow={(event) => {
          event.preventDefault();
          onOpen();
        }}
      >
        <span className="wrap-anywhere">{name}</span>
      </Link>
    </>
  );
}

function addressOf(storage: string, path: string): string {
  return `?${new URLSearchParams({ tab: "storage", storage, ...(path && { path }) })}`;
}
