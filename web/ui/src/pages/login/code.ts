const FORM = /^[A-Za-z0-9_-]{20,100}$/;

/** The code in a link, behind its #, or by itself, or a token; null: it is none of them. */
export function codeOf(text: string): string | null {
  const code = text.slice(text.lastIndexOf("#") + 1).trim();
  return FORM.test(code) ? code : null;
}
