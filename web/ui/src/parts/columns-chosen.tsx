/** Which columns of a list somebody sees. */
import CollectionPreferences from "@cloudscape-design/components/collection-preferences";
import { t } from "../texts";

interface ColumnsChosenProps {
  readonly columns: readonly { readonly id: string; readonly header: string }[];
  readonly visible: readonly string[];
  readonly onChange: (visible: readonly string[]) => void;
}

export function ColumnsChosen({ columns, visible, onChange }: ColumnsChosenProps) {
  return (
    <CollectionPreferences
      title={t.common.preferences.title}
      confirmLabel={t.common.preferences.confirm}
      cancelLabel={t.common.cancel}
      preferences={{ visibleContent: visible }}
      visibleContentPreference={{
        title: t.common.preferences.columns,
        options: [
          {
            label: "",
            options: columns.map(({ id, header }, index) => ({ id, label: header, editable: index !== 0 })),
          },
        ],
      }}
      onConfirm={({ detail }) => onChange(detail.visibleContent ?? visible)}
    />
  );
}
