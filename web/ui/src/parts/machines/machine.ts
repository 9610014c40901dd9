/** Machines as a form asks for them: what a person decides, what is wrong with it, and what the account has left. */
import type { HeadroomView, OfferingsView } from "../../api/schema";
import { t } from "../../texts";

export type Capacity = "onDemand" | "spot" | "trainingPlan";

export interface Machines {
  readonly type: string;
  /** A zone's id; empty: any. */
  readonly zone: string;
  readonly capacity: Capacity;
  /** The ARN, of a training plan. */
  readonly plan: string;
  readonly count: string;
}

export const MACHINES: Machines = { type: "", zone: "", capacity: "onDemand", plan: "", count: "1" };

export interface MachineFlaws {
  readonly type?: string;
  readonly zone?: string;
  readonly plan?: string;
  readonly count?: string;
}

const TYPE = /^ml\.[a-z0-9-]+\.[a-z0-9]+$/;
const PLAN = /^arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:[0-9]{12}:training-plan\/.+$/;
const MOST = 6758;

export function countOf(text: string): number | null {
  if (!/^\d{1,4}$/.test(text.trim())) return null;
  const count = Number(text);
  return count <= MOST ? count : null;
}

export function flawsOf(wish: Machines, offers: OfferingsView | undefined): MachineFlaws {
  const found: { -readonly [Name in keyof MachineFlaws]: MachineFlaws[Name] } = {};
  const offer = offers?.instance_types.find(({ instance_type }) => instance_type === wish.type);
  if (!TYPE.test(wish.type)) found.type = t.machines.typeBad;
  else if (offers !== undefined && offers.instance_types.length > 0 && offer === undefined) {
    found.type = t.machines.typeUnknown;
  }
  if (wish.zone !== "" && offer?.zones != null && !offer.zones.includes(wish.zone)) {
    found.zone = t.machines.zoneBad(wish.zone);
  }
  if (wish.capacity === "trainingPlan" && !PLAN.test(wish.plan)) found.plan = t.machines.planBad;
  if (countOf(wish.count) === null) found.count = t.machines.countBad;
  return found;
}

/** What may still be had of this type and capacity; undefined: not known, or a plan decides. */
export function headroomOf(wish: Machines, offers: OfferingsView | undefined): HeadroomView | undefined {
  const offer = offers?.instance_types.find(({ instance_type }) => instance_type === wish.type);
  if (offer === undefined || wish.capacity === "trainingPlan") return undefined;
  return wish.capacity === "spot" ? offer.spot : offer.on_demand;
}

/** The spec of an InstanceGroup: only what was decided. */
export function specOf({ type, zone, capacity, plan, count }: Machines): Record<string, unknown> {
  return {
    instanceType: type,
    count: countOf(count) ?? 0,
    ...(zone && { zone }),
    ...(capacity === "spot" && { capacity: { spot: {} } }),
    ...(capacity === "trainingPlan" && { capacity: { trainingPlan: { arn: plan } } }),
  };
}
