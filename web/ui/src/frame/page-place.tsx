/** What the page at hand says of itself to the shell around it: its title and where it is. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { t } from "../texts";

export interface Crumb {
  readonly text: string;
  readonly href: string;
}

export interface Place {
  readonly title: string;
  /** The pages above this one, from the top. */
  readonly above: readonly Crumb[];
}

interface Told {
  readonly place: Place;
  readonly tell: (place: Place) => void;
}

const NOWHERE: Place = { title: "", above: [] };
const Context = createContext<Told>({ place: NOWHERE, tell: () => {} });

export function PlaceProvider({ children }: { readonly children: ReactNode }) {
  const [place, tell] = useState<Place>(NOWHERE);
  const value = useMemo(() => ({ place, tell }), [place]);
  return <Context value={value}>{children}</Context>;
}

export function usePlace(): Place {
  return useContext(Context).place;
}

export function useTellPlace(title: string, above: readonly Crumb[]): void {
  const { tell } = useContext(Context);
  const key = JSON.stringify(above);
  useEffect(() => {
    document.title = `${title} · ${t.common.product}`;
    tell({ title, above: JSON.parse(key) as Crumb[] });
  }, [title, key, tell]);
}
