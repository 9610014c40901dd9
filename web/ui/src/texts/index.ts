/**
 * Every word that a person reads, as `t.fleet.title`. Another language is a folder beside `en` whose index has the type
 * `Texts`; which one is shown is decided here. What a page says is in the page's own chunk: a module of words does
 * nothing but say them (package.json, `sideEffects`), so whoever takes `t.fleet` takes that module and no other.
 */
export type Texts = typeof import("./en");

export * as t from "./en";
