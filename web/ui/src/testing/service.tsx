/**
 * A service for a component's test: answers by method and path, everything that was asked, and the component within
 * what stands around every page.
 *
 *     const service = serve({ "GET /api/v1/clusters": { items: [] } });
 *     const { page } = show(<Component />);
 *     expect(service.asked).toEqual([…]);
 */
import I18nProvider from "@cloudscape-design/components/i18n";
import messages from "@cloudscape-design/components/i18n/messages/all.en";
import createWrapper from "@cloudscape-design/components/test-utils/dom";
import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { createMemoryRouter, RouterProvider } from "react-router";
import { vi } from "vitest";
import { makeQueryClient } from "../api/client";
import type { SessionView } from "../api/schema";
import { type Scope, SessionProvider } from "../api/session";
import { NoticesProvider } from "../live/notices";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

type Answer = object | ((asked: Asked) => Response | object);

export const VERSION = {
  version: "0",
  branch: "main",
  local: true,
  life: "0",
  clock: "2026-03-01T10:00:00.000Z",
  clock_rate: 1,
};

/** A path that has no answer here is 404, as in the service. A query is part of the path where an answer names it. */
export function serve(answers: Readonly<Record<string, Answer>>): { readonly asked: readonly Asked[] } {
  const asked: Asked[] = [];
  const known: Readonly<Record<string, Answer>> = { "GET /api/v1/version": VERSION, ...answers };
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const one = { method: request.method, path: `${pathname}${search}`, body: text ? JSON.parse(text) : undefined };
    asked.push(one);
    const answer = known[`${one.method} ${one.path}`] ?? known[`${one.method} ${pathname}`];
    if (answer === undefined) return problem(404, "NotFound", `nothing at ${one.path}`);
    const given = typeof answer === "function" ? answer(one) : answer;
    return given instanceof Response ? given : json(given);
  });
  return { asked };
}

export function json(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

export function problem(status: number, reason: string, detail: string, more: object = {}): Response {
  return json({ type: `urn:instantstart:${reason}`, title: reason, status, detail, reason, ...more }, status);
}

/** Waits for what is expected: as long as a busy machine needs. */
export function until<Result>(expected: () => Result): Promise<Result> {
  return vi.waitFor(expected, { timeout: 60_000 });
}

const ALL: Scope[] = ["read", "propose", "approve", "operate"];

export function person(scopes: Scope[] = ALL): SessionView {
  return {
    name: "platform-engineer@example.com",
    kind: "person",
    scopes,
    via: "session",
    on_behalf_of: "",
    reach: { paths: [], kinds: [] },
  };
}

export function show(shown: ReactNode, { path = "/", who = person() }: { path?: string; who?: SessionView } = {}) {
  const queries = makeQueryClient();
  const element = (
    <SessionProvider who={who}>
      <NoticesProvider>{shown}</NoticesProvider>
    </SessionProvider>
  );
  const router = createMemoryRouter([{ path: "*", element }], { initialEntries: [path] });
  const { container } = render(
    <I18nProvider locale="en" messages={[messages]}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>,
  );
  return { page: createWrapper(container), whole: createWrapper(), router, queries };
}
