/** What a change does to its files: lines, unified or side by side; which of the two is kept in this browser. */
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { api } from "../../api/client";
import { everyPage, useEveryPage } from "../../api/lists";
import type { FileDiffView } from "../../api/schema";
import { Absent } from "../../parts/card";
import { useKept } from "../../parts/kept";
import { usePhone } from "../../parts/phone";
import { t } from "../../texts";
import { DiffTable } from "./diff-table";

type View = "unified" | "split";

export function Diff({ id }: { readonly id: string }) {
  const params = { path: { change: id }, query: { limit: 500 } };
  const files = useEveryPage(api.useInfiniteQuery("get", "/api/v1/changes/{change}/diff", { params }, everyPage));
  const isPhone = usePhone();
  const [kept, keep] = useKept<{ readonly view: View }>("diff", { view: "unified" });
  const words = t.change.diff;
  if (files.data === undefined) return <Absent error={files.error} onRetry={() => void files.refetch()} />;
  if (files.data.length === 0) return <Box color="text-body-secondary">{words.none}</Box>;
  return (
    <SpaceBetween size="m">
      {!isPhone && (
        <SegmentedControl
          label={words.view}
          selectedId={kept.view}
          options={(["unified", "split"] as const).map((view) => ({ id: view, text: words[view] }))}
          onChange={({ detail }) => keep({ view: detail.selectedId as View })}
        />
      )}
      {files.data.map((file) => (
        <File key={file.path} file={file} isSplit={!isPhone && kept.view === "split"} />
      ))}
    </SpaceBetween>
  );
}

function File({ file, isSplit }: { readonly file: FileDiffView; readonly isSplit: boolean }) {
  return (
    <ExpandableSection
      defaultExpanded
      headingTagOverride="h3"
      headerText={<span className="wrap-anywhere">{file.path}</span>}
      headerDescription={t.change.files[file.verb]}
    >
      {file.lines == null ? (
        <Box color="text-body-secondary">{t.change.diff.noText}</Box>
      ) : (
        <DiffTable unified={file.lines} path={file.path} isSplit={isSplit} />
      )}
    </ExpandableSection>
  );
}
