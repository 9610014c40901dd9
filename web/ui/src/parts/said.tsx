/** What the engine says, with its names of things as people say them; its own words are at hand, as the title. */
import { t } from "../texts";

const KEY = /\b([a-z0-9]+\.[A-Z][A-Za-z0-9]*)\/([A-Za-z0-9][\w./:-]*\w|\w)/g;

/** "hyperpod.InstanceGroup/prod/gpu" as "instance group gpu"; a kind without a word stays as it is. */
export function inWords(said: string): string {
  return said.replaceAll(KEY, (key, type: string, path: string) => {
    const name = t.types[type];
    return name === undefined ? key : `${name} ${path.split("/").at(-1)}`;
  });
}

export function Said({ text }: { readonly text: string }) {
  const words = inWords(text);
  return (
    <span className="wrap-anywhere" title={words === text ? undefined : text}>
      {words}
    </span>
  );
}

/** A reason in CamelCase as a few words. */
export function Reason({ reason }: { readonly reason: string }) {
  return <span title={reason}>{t.reasons[reason] ?? reason}</span>;
}
