/**
 * Characters that would do something are shown as signs instead. The service takes them out already; what a program
 * wrote is never trusted twice.
 */
const ACTIVE = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu; // the two joiners belong to how some scripts are written
const PICTURES = 0x2400; // a picture for each control character of ASCII
const DELETE = 0x7f;

export function visible(text: string): string {
  return text.replace(ACTIVE, (letter) => {
    const code = letter.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(PICTURES + code);
    return code === DELETE ? "\u2421" : "\ufffd";
  });
}
