/**
 * A list of things: a table that sorts, filters, pages and remembers what a person chose to see; cards on a phone.
 * Columns are said once, for all of that.
 */
import { useCollection } from "@cloudscape-design/collection-hooks";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import CollectionPreferences, {
  type CollectionPreferencesProps,
} from "@cloudscape-design/components/collection-preferences";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import type { ReactNode } from "react";
import { t } from "../texts";
import { useKept } from "./kept";
import { usePhone } from "./phone";

export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  readonly cell: (item: Item) => ReactNode;
  /** What it is sorted and filtered by; without it, neither. */
  readonly value?: (item: Item) => string | number | undefined;
  /** Offered as a property to filter by. */
  readonly filter?: boolean;
  /** Not shown until somebody asks for it. */
  readonly hidden?: boolean;
  /** Pixels at least, in the table. */
  readonly width?: number;
  /** Two of these stand side by side on a phone. */
  readonly half?: boolean;
}

export interface ListingProps<Item> {
  /** Told to screen readers; shown above the list where a page has more than this list. */
  readonly title: string;
  readonly showTitle?: boolean;
  readonly items: readonly Item[];
  readonly isLoading: boolean;
  /** The first column names the thing. */
  readonly columns: readonly [Column<Item>, ...Column<Item>[]];
  /** What tells two things apart. */
  readonly trackBy: (item: Item) => string;
  readonly searchText: string;
  readonly actions?: ReactNode;
  /** When there is nothing at all: what this is, and the way to the first one. */
  readonly empty: { readonly title: string; readonly text: string; readonly action?: ReactNode };
  /** Under which name a person's choices are kept in this browser. */
  readonly keep: string;
  readonly matches: (count: number) => string;
}

interface Preferences {
  readonly pageSize: number;
  readonly visible: readonly string[];
}

export function Listing<Item>(props: ListingProps<Item>) {
  const { title, showTitle = false, items, columns, trackBy, empty, actions, isLoading, keep, matches } = props;
  const isPhone = usePhone();
  const [preferences, setPreferences] = useKept<Preferences>(`listing ${keep}`, {
    pageSize: 50,
    visible: columns.filter(({ hidden }) => hidden !== true).map(({ id }) => id),
  });
  const list = useCollection(items, {
    propertyFiltering: {
      filteringProperties: filteringProperties(columns),
      filteringFunction: (item, query) => fits(item, query, columns),
    },
    pagination: { pageSize: preferences.pageSize },
    sorting: {},
    selection: { trackBy },
  });
  const clear = () => list.actions.setPropertyFiltering({ tokens: [], operation: "and" });
  const filter =
    items.length === 0 ? undefined : (
      <PropertyFilter
        {...list.propertyFilterProps}
        filteringAriaLabel={props.searchText}
        filteringPlaceholder={props.searchText}
        filteringOptions={filteringOptions(items, columns)}
        countText={matches(list.filteredItemsCount ?? 0)}
        expandToViewport
      />
    );
  const header = showTitle ? (
    <Header
      variant="h2"
      counter={isLoading ? undefined : `(${counter(items.length, list.filteredItemsCount)})`}
      actions={actions}
    >
      {title}
    </Header>
  ) : undefined;
  const pagination = items.length > preferences.pageSize ? <Pagination {...list.paginationProps} /> : undefined;
  const shared = {
    items: list.items,
    trackBy,
    loading: isLoading,
    loadingText: t.common.loading,
    filter,
    header,
    pagination,
    empty: <Empty title={t.common.noMatch} action={<Button onClick={clear}>{t.common.clearFilter}</Button>} />,
  };
  if (!isLoading && items.length === 0) {
    return (
      <Container header={header}>
        <Empty {...empty} />
      </Container>
    );
  }
  if (isPhone) {
    const [first, ...rest] = columns;
    return (
      <Cards
        {...shared}
        ariaLabels={{ cardsLabel: title, selectionGroupLabel: title, itemSelectionLabel: (_, item) => trackBy(item) }}
        cardDefinition={{
          header: first.cell,
          sections: rest
            .filter(({ id }) => preferences.visible.includes(id))
            .map(({ id, header, cell, half }) => ({ id, header, content: cell, width: half === true ? 50 : 100 })),
        }}
        cardsPerRow={[{ cards: 1 }]}
      />
    );
  }
  return (
    <Table
      {...list.collectionProps}
      {...shared}
      ariaLabels={{ tableLabel: title }}
      enableKeyboardNavigation
      stickyHeader
      wrapLines
      resizableColumns={false}
      columnDefinitions={columns.map(({ id, header, cell, value, width }, index) => ({
        id,
        header,
        cell,
        minWidth: width,
        isRowHeader: index === 0,
        ...(value && { sortingComparator: comparator(value) }),
      }))}
      columnDisplay={columns.map(({ id }) => ({ id, visible: preferences.visible.includes(id) }))}
      preferences={
        <CollectionPreferences
          title={t.common.preferences.title}
          confirmLabel={t.common.preferences.confirm}
          cancelLabel={t.common.cancel}
          preferences={{ pageSize: preferences.pageSize, visibleContent: preferences.visible }}
          pageSizePreference={{
            title: t.common.preferences.size,
            options: [20, 50, 100].map((value) => ({ value, label: String(value) })),
          }}
          visibleContentPreference={{
            title: t.common.preferences.columns,
            options: [{ label: "", options: shown(columns) }],
          }}
          onConfirm={({ detail }) =>
            setPreferences({
              pageSize: detail.pageSize ?? preferences.pageSize,
              visible: detail.visibleContent ?? preferences.visible,
            })
          }
        />
      }
    />
  );
}

export function Empty({
  title,
  text,
  action,
}: {
  readonly title: string;
  readonly text?: string;
  readonly action?: ReactNode;
}) {
  return (
    <Box textAlign="center" padding={{ vertical: "l" }}>
      <SpaceBetween size="s">
        <div>
          <Box variant="strong">{title}</Box>
          {text && (
            <Box variant="p" color="text-body-secondary">
              {text}
            </Box>
          )}
        </div>
        {action}
      </SpaceBetween>
    </Box>
  );
}

function counter(all: number, found: number | undefined): string {
  return found === undefined || found === all ? String(all) : `${found}/${all}`;
}

function shown<Item>(columns: readonly Column<Item>[]): CollectionPreferencesProps.VisibleContentOption[] {
  return columns.map(({ id, header }, index) => ({ id, label: header, editable: index !== 0 }));
}

function comparator<Item>(value: (item: Item) => string | number | undefined): (one: Item, other: Item) => number {
  return (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
    return typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), t.locale, { numeric: true });
  };
}

function filteringProperties<Item>(columns: readonly Column<Item>[]) {
  return columns
    .filter(({ filter }) => filter === true)
    .map(({ id, header }) => ({
      key: id,
      propertyLabel: header,
      groupValuesLabel: header,
      operators: [":", "!:", "=", "!="] as PropertyFilterProps.ComparisonOperator[],
    }));
}

function filteringOptions<Item>(items: readonly Item[], columns: readonly Column<Item>[]) {
  return columns
    .filter(({ filter }) => filter === true)
    .flatMap(({ id, value }) => {
      const found = new Set(items.map((item) => value?.(item)).filter((one) => one !== undefined && one !== ""));
      return [...found].slice(0, 200).map((one) => ({ propertyKey: id, value: String(one) }));
    });
}

function fits<Item>(
  item: Item,
  { tokens, operation }: PropertyFilterProps.Query,
  columns: readonly Column<Item>[],
): boolean {
  if (tokens.length === 0) return true;
  const values = (key: string | undefined) =>
    columns
      .filter(({ id, value }) => (key === undefined ? value !== undefined : id === key))
      .map(({ value }) => String(value?.(item) ?? "").toLowerCase());
  const met = ({ propertyKey, operator, value }: PropertyFilterProps.Token): boolean => {
    const wanted = String(value).toLowerCase();
    const found = values(propertyKey);
    switch (operator) {
      case "=":
        return found.some((one) => one === wanted);
      case "!=":
        return found.every((one) => one !== wanted);
      case "!:":
        return found.every((one) => !one.includes(wanted));
      default:
        return found.some((one) => one.includes(wanted));
    }
  };
  return operation === "or" ? tokens.some(met) : tokens.every(met);
}
