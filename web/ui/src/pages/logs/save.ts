/** A file for the browser to keep, from what is in memory. */
const KEPT = 60_000; // milliseconds in which the browser takes it

export function save(name: string, parts: string[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
}
