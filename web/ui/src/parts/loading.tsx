import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { t } from "../texts";

export function Loading({ text = t.common.loading }: { readonly text?: string }) {
  return <StatusIndicator type="loading">{text}</StatusIndicator>;
}
