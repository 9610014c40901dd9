/** Leaves a cluster as it is, or takes it up again, after what that means. */
import Alert from "@cloudscape-design/components/alert";
import { Absent } from "../../../parts/card";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { suspended } from "../groups/edits";
import { specOf, useWritten } from "../groups/written";

interface SuspendProps {
  readonly cluster: string;
  readonly isSuspended: boolean;
  readonly onClose: () => void;
}

const words = t.drift;

export function Suspend({ cluster, isSuspended, onClose }: SuspendProps) {
  const written = useWritten(cluster, "Cluster", cluster);
  const title = isSuspended ? words.resumeTitle(cluster) : words.holdTitle(cluster);
  return (
    <Proposal
      heading={title}
      title={title}
      base={written.data?.revision}
      edits={() =>
        written.data === undefined
          ? null
          : [suspended(cluster, "suspend" in specOf(written.data.document), !isSuspended)]
      }
      onClose={onClose}
    >
      {written.error ? <Absent error={written.error} onRetry={() => void written.refetch()} /> : null}
      {isSuspended ? (
        <div>{words.resumeText}</div>
      ) : (
        <Alert type="warning" header={words.holdText}>
          <ul className="plain-list">
            {t.settings.suspension.means.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Alert>
      )}
    </Proposal>
  );
}
