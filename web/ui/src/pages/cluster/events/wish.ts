/** Which events somebody wants to see, as the address of the page has it. */
export const LEVELS = ["error", "warning", "info"] as const;
export const SOURCES = ["kubernetes", "hyperpod"] as const;
export type Level = (typeof LEVELS)[number];
export type Source = (typeof SOURCES)[number];

export interface Wish {
  /** None: every one. */
  readonly levels: readonly Level[];
  readonly source: Source | undefined;
  readonly group: string | undefined;
  /** As it was written. */
  readonly node: string;
}

const INSTANCE = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;
const NODE = "hyperpod-";

/** The instance that somebody means by what they wrote; null: nothing that is one. */
export function instanceOf(text: string): string | null {
  const id = text.trim().toLowerCase();
  const bare = id.startsWith(NODE) ? id.slice(NODE.length) : id;
  return INSTANCE.test(bare) ? bare : null;
}

export function readWish(search: URLSearchParams): Wish {
  const levels = (search.get("level") ?? "").split(",");
  return {
    levels: LEVELS.filter((level) => levels.includes(level)),
    source: SOURCES.find((source) => source === search.get("source")),
    group: search.get("group") || undefined,
    node: search.get("node") ?? "",
  };
}

export function writeWish({ levels, source, group, node }: Wish): Record<string, string> {
  return {
    tab: "events",
    ...(levels.length > 0 && { level: levels.join(",") }),
    ...(source && { source }),
    ...(group && { group }),
    ...(node && { node }),
  };
}

/** As the API is asked. */
export function queryOf({ levels, source, group, node }: Wish) {
  const instance = instanceOf(node);
  return {
    limit: 50,
    ...(levels.length > 0 && { level: [...levels] }),
    ...(source && { source }),
    ...(group && { group }),
    ...(instance !== null && { node: instance }),
  };
}

export function isAny({ levels, source, group, node }: Wish): boolean {
  return levels.length === 0 && source === undefined && group === undefined && node === "";
}
