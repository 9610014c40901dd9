/** A part of a whole as a thin bar. It only repeats what the text beside it says, so screen readers skip it. */
import { colorBorderDividerDefault, colorChartsBlue1400 } from "@cloudscape-design/design-tokens";

export function Meter({ part, all }: { readonly part: number; readonly all: number }) {
  const share = all > 0 ? Math.min(100, (part / all) * 100) : 0;
  return (
    <div className="meter" aria-hidden="true" style={{ background: colorBorderDividerDefault }}>
      <div style={{ inlineSize: `${share}%`, background: colorChartsBlue1400 }} />
    </div>
  );
}
