/** What an answer was made from, where a source of it cannot be seen now: since when, and why. */
import Alert from "@cloudscape-design/components/alert";
import { t } from "../texts";
import { exact } from "./times";

/** One source of an answer, as the API tells it. */
export interface PartView {
  readonly name: string;
  readonly observed_at?: string | null;
  readonly unknown_since?: string | null;
  readonly message?: string;
}

export function Sources({ parts }: { readonly parts: readonly PartView[] }) {
  const unseen = parts.filter((part) => part.unknown_since != null || part.observed_at == null);
  if (unseen.length === 0) return null;
  return (
    <Alert type="warning">
      {unseen.map((part) => (
        <div key={part.name}>
          {told(part)} {part.message}
        </div>
      ))}
    </Alert>
  );
}

function told({ name, observed_at, unknown_since }: PartView): string {
  const what = t.common.parts[name] ?? name;
  return observed_at != null && unknown_since != null
    ? t.common.stale(what, exact(unknown_since))
    : t.common.unseen(what);
}
