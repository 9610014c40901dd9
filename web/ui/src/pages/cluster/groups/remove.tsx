/** Takes a group's document away; what that does to its nodes stands here before. */
import Alert from "@cloudscape-design/components/alert";
import type { GroupView } from "../../../api/schema";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";

interface RemoveProps {
  readonly cluster: string;
  readonly group: GroupView;
  readonly onClose: () => void;
}

export function Remove({ cluster, group, onClose }: RemoveProps) {
  const words = t.groups.remove;
  return (
    <Proposal
      heading={words.title(group.name)}
      title={words.change(group.name)}
      edits={() => [{ edit: "remove", cluster, kind: "InstanceGroup", name: group.name }]}
      onClose={onClose}
    >
      <Alert type="warning">
        {words.text(group.nodes.there ?? group.nodes.desired)} {words.guard}
      </Alert>
    </Proposal>
  );
}
