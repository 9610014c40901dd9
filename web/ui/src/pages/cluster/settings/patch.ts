/** What is different in a document, as the steps of RFC 6902 that say it: nothing else of it is touched. */

export interface Step {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

export interface Change {
  /** From the document's root: ["spec", "hyperpod", "nodeRecovery"]. */
  readonly path: readonly string[];
  /** undefined: the field goes. */
  readonly value: unknown;
}

type Fields = { [field: string]: unknown };

/** `written`: the document without defaults. What it says already is no step. */
export function stepsOf(written: object, changes: readonly Change[]): Step[] {
  const document = structuredClone(written) as Fields;
  return changes.flatMap((change) => stepOf(document, change) ?? []);
}

/** Does it to the document, too: a later change may be below what this one adds. */
function stepOf(document: Fields, { path, value }: Change): Step | null {
  let place = document;
  for (const [depth, field] of path.entries()) {
    const isLast = depth === path.length - 1;
    const there = place[field];
    const pointer = pointerOf(path.slice(0, depth + 1));
    if (value === undefined) {
      if (there === undefined) return null;
      if (isLast) {
        delete place[field];
        return { op: "remove", path: pointer };
      }
    } else if (isLast || !isFields(there)) {
      if (isLast && same(there, value)) return null;
      const made = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      place[field] = structuredClone(made);
      return { op: there === undefined ? "add" : "replace", path: pointer, value: made };
    }
    place = there as Fields;
  }
  return null;
}

/** A path as a JSON pointer. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((field) => `/${String(field).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => same(value, other[index]));
  }
  if (!isFields(one) || !isFields(other)) return one === other;
  const keys = Object.keys({ ...one, ...other });
  return keys.every((key) => same(one[key], other[key]));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
