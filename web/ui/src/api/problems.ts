/**
 * What goes wrong, in one form: RFC 9457 problem details of the API, and what never reached it.
 */
import type { Problem } from "./schema";

/** As it is on the wire: what is null is left out. */
type Told = Pick<Problem, "type" | "title" | "status" | "detail" | "reason"> & Partial<Problem>;

/** `status` 0: nothing answered; -1: the page's own mistake. */
export class ProblemError extends Error implements Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly reason: string;
  readonly way_out: Problem["way_out"];
  readonly errors: Problem["errors"];
  readonly conflicts: Problem["conflicts"];

  constructor(told: Told, options?: ErrorOptions) {
    super(`${told.reason}: ${told.detail}`, options);
    this.name = "ProblemError";
    this.type = told.type;
    this.title = told.title;
    this.status = told.status;
    this.detail = told.detail;
    this.reason = told.reason;
    this.way_out = told.way_out ?? null;
    this.errors = told.errors ?? null;
    this.conflicts = told.conflicts ?? null;
  }
}

export const UNREACHABLE = "Unreachable";

export function unreachable(cause: unknown): ProblemError {
  return made(0, UNREACHABLE, "", cause);
}

/** Of an answer that is none of ours too: a proxy's page, or half a body. */
export async function ofResponse(response: Response): Promise<ProblemError> {
  const text = await response.text();
  try {
    const told: unknown = JSON.parse(text);
    if (isProblem(told)) return new ProblemError(told);
  } catch {
    // not JSON: the status is all that is known
  }
  return made(response.status, "UnexpectedAnswer", response.statusText);
}

export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  return made(-1, "PageError", error instanceof Error ? error.message : String(error), error);
}

/** Another try may go better: the service is away, busy, or has a mistake. */
export function isPassing(problem: Problem): boolean {
  return problem.status === 0 || problem.status === 429 || problem.status >= 500;
}

/**
 * What the API says of one field of a form: `flawOf(error, "days")` for the flaw at `body/days` or `/days`.
 */
export function flawOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ProblemError)) return undefined;
  const flaw = error.errors?.find((one) => one.where.replace(/^(body)?\//, "") === field || one.where === field);
  if (flaw === undefined) return undefined;
  return flaw.hint ? `${flaw.expected}. ${flaw.hint}` : flaw.expected;
}

function made(status: number, reason: string, detail: string, cause?: unknown): ProblemError {
  return new ProblemError({ type: `urn:instantstart:${reason}`, title: reason, status, detail, reason }, { cause });
}

function isProblem(told: unknown): told is Told {
  if (typeof told !== "object" || told === null) return false;
  const { reason, detail, status } = told as Partial<Told>;
  return typeof reason === "string" && typeof detail === "string" && typeof status === "number";
}
