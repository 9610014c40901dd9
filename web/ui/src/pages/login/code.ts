const FORM = /^[A-Za-z0-9_-]{20,100}$/;
const TOKEN = /^is_/;

/** The code in a link, behind its #, or by itself; null: it has no such form, or is a token, which is no code. */
export function codeOf(text: string): string | null {
  const code = text.slice(text.lastIndexOf("#") + 1).trim();
  return FORM.test(code) && !TOKEN.test(code) ? code : null;
}
