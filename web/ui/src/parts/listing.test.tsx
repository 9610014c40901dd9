import { act } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { show, until } from "../testing/service";
import { type Column, Listing } from "./listing";

interface Thing {
  readonly id: string;
}

const things: readonly Thing[] = Array.from({ length: 500 }, (_, number) => ({ id: `thing-${number}` }));
const made = new Map<string, number>();
const columns: readonly [Column<Thing>, ...Column<Thing>[]] = [
  {
    id: "id",
    header: "Id",
    value: ({ id }) => id,
    cell: ({ id }) => {
      made.set(id, (made.get(id) ?? 0) + 1);
      return id;
    },
  },
];
const selection = {
  marked: new Set<string>(),
  onChange: () => {},
  canMark: () => true,
  label: ({ id }: Thing) => id,
  words: { mark: "Mark", markAll: String, unmarkAll: "None" },
};

function list() {
  return (
    <Listing
      title="Things"
      items={things}
      isLoading={false}
      columns={columns}
      selection={selection}
      trackBy={({ id }) => id}
      searchText="Search"
      empty={{ title: "", text: "" }}
      keep="things"
      matches={String}
    />
  );
}

test("scrolling makes the rows that come, and none again that stays", async () => {
  vi.stubGlobal("scrollY", 0);
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(whereItStands);
  const { page } = show(list());
  const names = () =>
    (page.findTable()?.findRows() ?? []).map((row) => row.getElement().textContent?.match(/thing-\d+/)?.[0] ?? "");
  await until(() => expect(names().at(-1)).toBe(`thing-${endAt(0) - 1}`));
  for (const top of [440, 880, 1320, 660]) {
    const before = names();
    made.clear();
    await act(async () => {
      vi.stubGlobal("scrollY", top);
      globalThis.dispatchEvent(new Event("scroll"));
    });
    await until(() => expect(names().at(-1)).toBe(`thing-${endAt(top) - 1}`));
    const came = names().filter((name) => !before.includes(name));
    expect(names().length - came.length).toBeGreaterThan(15); // these stay
    expect([...made]).toEqual(came.map((name) => [name, 1]));
  }
});

test("a list is sorted as a whole, the other way round the second time", async () => {
  const { page } = show(list());
  const first = () => page.findTable()?.findRows()[0]?.getElement().textContent;
  await until(() => expect(first()).toContain("thing-0"));
  const sort = () => page.findTable()?.findColumnSortingArea(2)?.click();
  sort();
  await until(() => expect(page.find("[aria-sort='ascending']")).not.toBeNull());
  expect(first()).toContain("thing-0");
  sort();
  await until(() => expect(first()).toContain("thing-499"));
  expect(page.find("[aria-sort='descending']")).not.toBeNull();
});

/** jsdom lays nothing out, so nothing has a height; but the page goes up as one scrolls, and rows stand lower. */
function whereItStands(this: HTMLElement): DOMRect {
  const lower = Number.parseFloat(this.style.transform.match(/translateY\((.*)px\)/)?.[1] ?? "0");
  return new DOMRect(0, lower - globalThis.scrollY, 0, 0);
}

/** Up to which thing rows are made: jsdom has no heights, so a row is 44 pixels and the window 768. */
function endAt(top: number): number {
  return (Math.floor((top + 768) / 44 / 5) + 3) * 5;
}
