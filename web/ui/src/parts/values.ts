/** A value of a document as a line of text. */
export function valueText(value: unknown, absent: string): string {
  if (value === null || value === undefined) return absent;
  return typeof value === "string" ? value : JSON.stringify(value);
}
