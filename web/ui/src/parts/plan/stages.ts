/** A plan's actions by stage, in the order of building. */
import type { ActionView } from "../../api/schema";
import { t } from "../../texts";

export const STAGES: readonly string[] = Object.keys(t.stages);

export interface StageActions {
  readonly stage: string;
  readonly actions: readonly ActionView[];
}

export function byStage(actions: readonly ActionView[]): StageActions[] {
  const found = new Map<string, ActionView[]>();
  for (const action of actions) {
    const there = found.get(action.stage);
    if (there) there.push(action);
    else found.set(action.stage, [action]);
  }
  return [...found]
    .map(([stage, inside]) => ({ stage, actions: inside }))
    .sort((one, other) => placeOf(one.stage) - placeOf(other.stage));
}

function placeOf(stage: string): number {
  const place = STAGES.indexOf(stage);
  return place < 0 ? STAGES.length : place;
}
