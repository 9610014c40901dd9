/** What a person should know, above every page, until they dismiss it. One notice per subject: the newest counts. */
import type { FlashbarProps } from "@cloudscape-design/components/flashbar";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { t } from "../texts";

export interface Notice {
  /** A newer notice with the same id takes the place of the older one. */
  readonly id: string;
  readonly type: "success" | "info" | "warning" | "error";
  readonly header?: string;
  readonly content?: ReactNode;
  /** Where it leads to. */
  readonly link?: { readonly text: string; readonly to: string };
}

interface Notices {
  readonly notices: readonly Notice[];
  readonly tell: (notice: Notice) => void;
  readonly dismiss: (id: string) => void;
  /** Takes away all of which that is true. */
  readonly withdraw: (isOver: (notice: Notice) => boolean) => void;
}

const MOST = 20;
const Context = createContext<Notices>({ notices: [], tell: () => {}, dismiss: () => {}, withdraw: () => {} });

export function useNotices(): Notices {
  return useContext(Context);
}

export function NoticesProvider({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const tell = useCallback((notice: Notice) => {
    setNotices((before) => [notice, ...before.filter(({ id }) => id !== notice.id)].slice(0, MOST));
  }, []);
  const dismiss = useCallback((id: string) => setNotices((before) => before.filter((one) => one.id !== id)), []);
  const withdraw = useCallback(
    (isOver: (notice: Notice) => boolean) =>
      setNotices((before) => (before.some(isOver) ? before.filter((notice) => !isOver(notice)) : before)),
    [],
  );
  const value = useMemo(() => ({ notices, tell, dismiss, withdraw }), [notices, tell, dismiss, withdraw]);
  return <Context value={value}>{children}</Context>;
}

export function flashes({ notices, dismiss }: Notices, go: (to: string) => void): FlashbarProps.MessageDefinition[] {
  return notices.map((notice) => ({
    id: notice.id,
    type: notice.type,
    header: notice.header,
    content: notice.content,
    dismissible: true,
    dismissLabel: t.common.close,
    onDismiss: () => dismiss(notice.id),
    ...(notice.link && {
      buttonText: notice.link.text,
      onButtonClick: () => {
        dismiss(notice.id); // who goes there has read it
        if (notice.link) go(notice.link.to);
      },
    }),
  }));
}
