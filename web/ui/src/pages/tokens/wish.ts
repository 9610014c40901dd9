/** What a form of a token may ask for, before the API is asked. */
import type { TokenAsked } from "../../api/schema";
import type { Scope } from "../../api/session";
import { t } from "../../texts";

export const SCOPES: readonly Scope[] = ["read", "propose", "approve", "operate"];
export const AGENT_SCOPES: readonly Scope[] = ["read", "propose"];
const NAME = /^[^\p{Cc}<>]{1,200}$/u;

/** The scopes that were ticked and that one of this kind may hold, from the least to the most. */
export function given(ticked: readonly Scope[], kind: TokenAsked["kind"]): Scope[] {
  return SCOPES.filter((scope) => ticked.includes(scope) && (kind === "person" || AGENT_SCOPES.includes(scope)));
}

export interface Flaws {
  readonly name?: string;
  readonly scopes?: string;
}

export function flawsOf({ name, scopes }: TokenAsked): Flaws {
  return {
    ...(NAME.test(name) ? {} : { name: t.tokens.form.nameBad }),
    ...(scopes.length > 0 ? {} : { scopes: t.tokens.form.scopesBad }),
  };
}
