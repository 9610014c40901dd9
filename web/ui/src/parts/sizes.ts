import { t } from "../texts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const number = new Intl.NumberFormat(t.locale, { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat(t.locale);

/** "812 B", "1.46 GiB". */
export function sizeText(bytes: number): string {
  let unit = 0;
  let size = bytes;
  while (Math.round(size) >= 1000 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? whole.format(size) : number.format(size)} ${UNITS[unit]}`;
}
