/**
 * Every page: where it is, and the module that shows it (loaded when it is first opened). A page below another is listed
 * by its whole path; its module exports `Component`.
 */
import type { ComponentType } from "react";
import { t } from "./texts";

export interface PageEntry {
  /** A pattern of react-router: `/clusters/:cluster`. */
  readonly path: string;
  readonly load: () => Promise<{ readonly Component: ComponentType }>;
}

export const loginPage: PageEntry = { path: "/login", load: () => import("./pages/login/page") };
export const notFoundPage: PageEntry = { path: "*", load: () => import("./pages/not-found") };

export const pages: readonly PageEntry[] = [
  { path: "/", load: () => import("./pages/fleet/page") },
  { path: "/clusters/new", load: () => import("./pages/create/page") },
  { path: "/clusters/:cluster", load: () => import("./pages/cluster/page") },
  { path: "/clusters/:cluster/pods/:namespace/:pod", load: () => import("./pages/logs/page") },
  { path: "/changes", load: () => import("./pages/changes/page") },
  { path: "/changes/:change", load: () => import("./pages/change/page") },
  { path: "/tokens", load: () => import("./pages/tokens/page") },
];

/** The list of pages beside the content. */
export const sections: readonly {
  readonly title: string | null;
  readonly entries: readonly { readonly href: string; readonly text: string }[];
}[] = [
  {
    title: null,
    entries: [
      { href: "/", text: t.frame.nav.fleet },
      { href: "/changes", text: t.frame.nav.changes },
    ],
  },
  { title: t.frame.nav.access, entries: [{ href: "/tokens", text: t.frame.nav.tokens }] },
];
