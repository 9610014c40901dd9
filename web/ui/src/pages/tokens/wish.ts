/** What a form of a token may ask for, before the API is asked. */
import type { Reach, TokenAsked } from "../../api/schema";
import type { Scope } from "../../api/session";
import { t } from "../../texts";

export type DocumentKind = NonNullable<Reach["kinds"]>[number];
export const SCOPES: readonly Scope[] = ["read", "propose", "approve", "operate"];
export const AGENT_SCOPES: readonly Scope[] = ["read", "propose"];
const PATTERN = /^clusters(?:\/[A-Za-z0-9_*?-][A-Za-z0-9_.*?-]*)+$/;
const NAME = /^[^\p{Cc}<>]{1,200}$/u;

/** The scopes that were ticked and that one of this kind may hold, from the least to the most. */
export function given(ticked: readonly Scope[], kind: TokenAsked["kind"]): Scope[] {
  return SCOPES.filter((scope) => ticked.includes(scope) && (kind === "person" || AGENT_SCOPES.includes(scope)));
}

/** `clusters/a/**, clusters/b/**` as patterns, with the kinds; neither: it reaches all. */
export function reachOf(text: string, kinds: readonly DocumentKind[]): Reach {
  return { paths: text.split(/[\s,]+/).filter((pattern) => pattern !== ""), kinds: [...kinds] };
}

export interface Flaws {
  readonly name?: string;
  readonly reach?: string;
  readonly scopes?: string;
}

export function flawsOf({ name, scopes, reach }: TokenAsked): Flaws {
  const wrong = reach.paths.find((pattern) => !PATTERN.test(pattern));
  return {
    ...(wrong === undefined ? {} : { reach: t.tokens.form.reachBad(wrong) }),
    ...(NAME.test(name) ? {} : { name: t.tokens.form.nameBad }),
    ...(scopes.length > 0 ? {} : { scopes: t.tokens.form.scopesBad }),
  };
}
