/**
 * Every word that a person reads. Another language is a folder beside `en` whose index has the type `Texts`; which one
 * is shown is decided here.
 */
import { en } from "./en";

export type Texts = typeof en;

export const t: Texts = en;
