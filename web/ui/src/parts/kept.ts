/** A choice of a person, kept in this browser. What it does not say (a new column, say) is as it is without. */
import { useCallback, useState } from "react";

const PREFIX = "instantstart ";

export function useKept<Value extends object>(name: string, otherwise: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState<Value>(() => ({ ...otherwise, ...read<Value>(name) }));
  const keep = useCallback(
    (next: Value) => {
      setValue(next);
      try {
        globalThis.localStorage.setItem(PREFIX + name, JSON.stringify(next));
      } catch {
        // it holds until the page is closed
      }
    },
    [name],
  );
  return [value, keep];
}

function read<Value>(name: string): Partial<Value> {
  try {
    const told: unknown = JSON.parse(globalThis.localStorage.getItem(PREFIX + name) ?? "{}");
    return typeof told === "object" && told !== null ? (told as Partial<Value>) : {};
  } catch {
    return {};
  }
}
