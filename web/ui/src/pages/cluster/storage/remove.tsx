/** Takes a Storage's document away; what goes with it and what stays stands here before. */
import Alert from "@cloudscape-design/components/alert";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import type { StorageRow } from "./rows";
import { removed } from "./wish";

interface RemoveProps {
  readonly cluster: string;
  readonly storage: StorageRow;
  readonly onClose: () => void;
}

const words = t.storage.remove;

export function RemoveStorage({ cluster, storage: { name, wish }, onClose }: RemoveProps) {
  return (
    <Proposal
      heading={words.title(name)}
      title={words.change(name)}
      edits={() => [removed(cluster, name)]}
      onClose={onClose}
    >
      <Alert type="warning">{words.text(name, wish?.namespace ?? t.common.unknown)}</Alert>
      {wish && <Alert type="info">{words.stays(wish.bucket)}</Alert>}
    </Proposal>
  );
}
