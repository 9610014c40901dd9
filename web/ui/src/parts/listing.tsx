/**
 * A list of things: a table that sorts, filters and remembers what a person chose to see; cards on a phone. However long
 * it is, it is one list: of many lines only those in sight are made. Columns are said once, for all of that.
 */
import { useCollection } from "@cloudscape-design/collection-hooks";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import type CardsType from "@cloudscape-design/components/cards";
import Checkbox from "@cloudscape-design/components/checkbox";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import PropertyFilter, { type PropertyFilterProps } from "@cloudscape-design/components/property-filter";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { lazy, memo, type ReactNode, Suspense, useCallback, useMemo, useState } from "react";
import { t } from "../texts";
import { useKept } from "./kept";
import { Loading } from "./loading";
import { More } from "./more";
import { usePhone } from "./phone";
import { type Slice, Windowed } from "./windowed";

const Cards = lazy(() => import("@cloudscape-design/components/cards")) as unknown as typeof CardsType; // lazy() forgets what it is a list of
const ColumnsChosen = lazy(async () => ({ default: (await import("./columns-chosen")).ColumnsChosen }));

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
  /** More of it is on its way. */
  readonly isPartial?: boolean;
  /** Things can be marked, for one deed to all of them. */
  readonly selection?: Selection<Item>;
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

export interface Selection<Item> {
  /** As `trackBy` has them. */
  readonly marked: ReadonlySet<string>;
  readonly onChange: (marked: ReadonlySet<string>) => void;
  readonly canMark: (item: Item) => boolean;
  readonly label: (item: Item) => string;
  readonly words: {
    readonly mark: string;
    readonly markAll: (count: number) => string;
    readonly unmarkAll: string;
  };
}

interface Preferences {
  readonly visible: readonly string[];
}

export function Listing<Item>(props: ListingProps<Item>) {
  const {
    title,
    showTitle = false,
    items,
    columns,
    trackBy,
    empty,
    actions,
    isLoading,
    keep,
    matches,
    selection,
  } = props;
  const isPhone = usePhone();
  const [made, setMade] = useState(CARDS);
  const [preferences, setPreferences] = useKept<Preferences>(`listing ${keep}`, {
    visible: columns.filter(({ hidden }) => hidden !== true).map(({ id }) => id),
  });
  const list = useCollection(items, {
    propertyFiltering: {
      filteringProperties: filteringProperties(columns),
      filteringFunction: (item, query) => fits(item, query, columns),
    },
    sorting: {},
  });
  const clear = () => list.actions.setPropertyFiltering({ tokens: [], operation: "and" });
  const options = useMemo(() => filteringOptions(items, columns), [items, columns]);
  const filter =
    items.length === 0 ? undefined : (
      <PropertyFilter
        {...list.propertyFilterProps}
        filteringAriaLabel={props.searchText}
        filteringPlaceholder={props.searchText}
        filteringOptions={options}
        countText={matches(list.filteredItemsCount ?? 0)}
        expandToViewport
      />
    );
  const header = showTitle ? (
    <Header
      variant="h2"
      counter={isLoading ? undefined : `(${counter(items.length, list.filteredItemsCount, props.isPartial)})`}
      actions={
        selection ? (
          <SpaceBetween direction="horizontal" size="xs">
            <MarkAll shown={list.items} trackBy={trackBy} selection={selection} />
            {actions}
          </SpaceBetween>
        ) : (
          actions
        )
      }
    >
      {title}
    </Header>
  ) : undefined;
  const shared = {
    trackBy,
    loading: isLoading,
    loadingText: t.common.loading,
    filter,
    header,
    empty: <Empty title={t.common.noMatch} action={<Button onClick={clear}>{t.common.clearFilter}</Button>} />,
  };
  const shown = list.items;
  const keyOf = useCallback(
    (index: number) => (shown[index] ? trackBy(shown[index]) : String(index)),
    [shown, trackBy],
  );
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
      <SpaceBetween size="m">
        <Suspense fallback={<Loading />}>
          <Cards<Item>
            {...shared}
            items={shown.slice(0, made)}
            ariaLabels={{
              cardsLabel: title,
              selectionGroupLabel: title,
              itemSelectionLabel: (_, item) => trackBy(item),
            }}
            cardDefinition={{
              header: (item) => (
                <div className="beside">
                  {selection && <Mark item={item} id={trackBy(item)} selection={selection} />}
                  <div>{first.cell(item)}</div>
                </div>
              ),
              sections: rest
                .filter(({ id }) => preferences.visible.includes(id))
                .map(({ id, header, cell, half }) => ({ id, header, content: cell, width: half === true ? 50 : 100 })),
            }}
            cardsPerRow={[{ cards: 1 }]}
          />
        </Suspense>
        {made < shown.length && (
          <More text={t.common.more} isPending={false} onMore={() => setMade((count) => count + CARDS)} />
        )}
      </SpaceBetween>
    );
  }
  // Made here, once for the list, and not once for each step of scrolling.
  const ariaLabels = { tableLabel: title };
  const told = columns.map(({ id, header, cell, value, width }, index) => ({
    id,
    header,
    cell: (item: Item) => <Cell cell={cell} item={item} />,
    minWidth: width,
    isRowHeader: index === 0,
    ...(value && { sortingComparator: comparator(value) }),
  }));
  const definitions = [...(selection ? [markColumn(selection, trackBy)] : []), ...told];
  // By its name: the table knows a column only as the very object that it was given, and these are other ones by now.
  const sorted = list.collectionProps.sortingColumn as { readonly id?: string } | undefined;
  const sortingColumn = told.find(({ id }) => id === sorted?.id);
  const display = [
    ...(selection ? [{ id: MARK, visible: true }] : []),
    ...columns.map(({ id }) => ({ id, visible: preferences.visible.includes(id) })),
  ];
  const chosen = (
    <Suspense fallback={<Button variant="icon" iconName="settings" ariaLabel={t.common.preferences.title} disabled />}>
      <ColumnsChosen
        columns={columns}
        visible={preferences.visible}
        onChange={(visible) => setPreferences({ visible })}
      />
    </Suspense>
  );
  const table = ({ start, end }: Slice) => (
    <Table
      {...list.collectionProps}
      {...shared}
      sortingColumn={sortingColumn}
      items={shown.slice(start, end)}
      firstIndex={start + 1}
      totalItemsCount={shown.length}
      ariaLabels={ariaLabels}
      enableKeyboardNavigation
      stickyHeader
      wrapLines
      resizableColumns={false}
      columnDefinitions={definitions}
      columnDisplay={display}
      preferences={chosen}
    />
  );
  return (
    <Windowed count={shown.length} keyOf={keyOf}>
      {table}
    </Windowed>
  );
}

/** What stands in a row: made again when its thing or its column is another one, not because others come and go. */
const Cell = memo(({ cell, item }: CellProps<unknown>) => cell(item)) as <Item>(props: CellProps<Item>) => ReactNode;

interface CellProps<Item> {
  readonly cell: (item: Item) => ReactNode;
  readonly item: Item;
}

const MARK = "marked";
const CARDS = 50; // more are made when one comes near the last

function markColumn<Item>(selection: Selection<Item>, trackBy: (item: Item) => string) {
  return {
    id: MARK,
    header: selection.words.mark,
    cell: (item: Item) => <Mark item={item} id={trackBy(item)} selection={selection} />,
    width: 60,
  };
}

interface MarkAllProps<Item> {
  /** What the filter lets through. */
  readonly shown: readonly Item[];
  readonly trackBy: (item: Item) => string;
  readonly selection: Selection<Item>;
}

/** No checkbox above the column: the header of a table stands twice on the page, once for those who scroll. */
function MarkAll<Item>({ shown, trackBy, selection: { marked, onChange, canMark, words } }: MarkAllProps<Item>) {
  const possible = shown.filter(canMark).map(trackBy);
  const isAll = possible.length > 0 && possible.every((id) => marked.has(id));
  return (
    <Button disabled={possible.length === 0} onClick={() => onChange(new Set(isAll ? [] : possible))}>
      {isAll ? words.unmarkAll : words.markAll(possible.length)}
    </Button>
  );
}

interface MarkProps<Item> {
  readonly item: Item;
  readonly id: string;
  readonly selection: Selection<Item>;
}

function Mark<Item>({ item, id, selection: { marked, onChange, canMark, label } }: MarkProps<Item>) {
  return (
    <Checkbox
      ariaLabel={label(item)}
      checked={marked.has(id)}
      disabled={!canMark(item)}
      onChange={({ detail }) => {
        const next = new Set(marked);
        if (detail.checked) next.add(id);
        else next.delete(id);
        onChange(next);
      }}
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

function counter(all: number, found: number | undefined, isPartial = false): string {
  const whole = isPartial ? `${all}+` : String(all);
  return found === undefined || found === all ? whole : `${found}/${whole}`;
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
