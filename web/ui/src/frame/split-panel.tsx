/** The panel at the bottom, for what goes on beside a page: `useSplitPanel().show(<SplitPanel header="Logs">…)`. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";

interface Panel {
  readonly panel: ReactNode;
  readonly isOpen: boolean;
  readonly setOpen: (open: boolean) => void;
  /** A Cloudscape SplitPanel; null takes it away. */
  readonly show: (panel: ReactNode) => void;
}

const Context = createContext<Panel>({ panel: null, isOpen: false, setOpen: () => {}, show: () => {} });

export function SplitPanelPlace({ children }: { readonly children: ReactNode }) {
  const [panel, setPanel] = useState<ReactNode>(null);
  const [isOpen, setOpen] = useState(false);
  const show = useCallback((shown: ReactNode) => {
    setPanel(shown);
    setOpen(shown !== null);
  }, []);
  const value = useMemo(() => ({ panel, isOpen, setOpen, show }), [panel, isOpen, show]);
  return <Context value={value}>{children}</Context>;
}

export function useSplitPanelContent(): Panel {
  return useContext(Context);
}

export function useSplitPanel(): Pick<Panel, "show"> {
  return useContext(Context);
}
