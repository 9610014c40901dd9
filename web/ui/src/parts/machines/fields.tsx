/** The fields of machines, with what the account has left beside them. Asked for by cluster, or by account and Region. */
import Autosuggest from "@cloudscape-design/components/autosuggest";
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { OfferingsView } from "../../api/schema";
import { t } from "../../texts";
import { type Capacity, countOf, headroomOf, type MachineFlaws, type Machines } from "./machine";

interface MachineFieldsProps {
  readonly wish: Machines;
  readonly onChange: (wish: Machines) => void;
  /** Shown at their fields; empty until somebody tried. */
  readonly flaws: MachineFlaws;
  readonly offers: OfferingsView | undefined;
  /** Offers could not be asked for. */
  readonly isBlind: boolean;
}

const words = t.machines;
const CAPACITIES: readonly Capacity[] = ["onDemand", "spot", "trainingPlan"];

export function MachineFields({ wish, onChange, flaws, offers, isBlind }: MachineFieldsProps) {
  const set = (more: Partial<Machines>) => onChange({ ...wish, ...more });
  const offer = offers?.instance_types.find(({ instance_type }) => instance_type === wish.type);
  const zones = (offers?.zones ?? []).filter(({ id }) => offer?.zones == null || offer.zones.includes(id));
  const count = countOf(wish.count);
  const any = { value: "", label: words.zoneAny };
  return (
    <SpaceBetween size="l">
      {isBlind && (
        <StatusIndicator type="info" wrapText>
          {words.noOffers}
        </StatusIndicator>
      )}
      <FormField
        label={words.type}
        constraintText={offer?.gpus ? words.hardware(offer.gpus, offer.gpu) : words.typeHint}
        errorText={flaws.type}
      >
        <Autosuggest
          value={wish.type}
          placeholder="ml.p5.48xlarge"
          enteredTextLabel={(text) => text}
          options={(offers?.instance_types ?? []).map((one) => ({
            value: one.instance_type,
            description: one.gpus ? words.hardware(one.gpus, one.gpu) : undefined,
          }))}
          onChange={({ detail }) => set({ type: detail.value.trim() })}
        />
      </FormField>
      <FormField label={words.zone} errorText={flaws.zone}>
        {zones.length > 0 ? (
          <Select
            selectedOption={
              [any, ...zones.map(({ id, name }) => ({ value: id, label: `${id} (${name})` }))].find(
                ({ value }) => value === wish.zone,
              ) ?? { value: wish.zone, label: wish.zone }
            }
            options={[any, ...zones.map(({ id, name }) => ({ value: id, label: `${id} (${name})` }))]}
            onChange={({ detail }) => set({ zone: detail.selectedOption.value ?? "" })}
          />
        ) : (
          <Input
            value={wish.zone}
            placeholder={words.zoneAny}
            onChange={({ detail }) => set({ zone: detail.value.trim() })}
          />
        )}
      </FormField>
      <FormField label={words.capacity}>
        <SegmentedControl
          label={words.capacity}
          selectedId={wish.capacity}
          options={CAPACITIES.map((id) => ({ id, text: t.groups.capacities[id] }))}
          onChange={({ detail }) => set({ capacity: detail.selectedId as Capacity })}
        />
      </FormField>
      {wish.capacity === "trainingPlan" && (
        <FormField label={words.plan} constraintText={words.planHint} errorText={flaws.plan}>
          <Autosuggest
            value={wish.plan}
            placeholder={words.planPick}
            enteredTextLabel={(text) => text}
            options={(offers?.training_plans ?? []).map(({ arn, name, status }) => ({
              value: arn,
              label: name,
              description: status,
            }))}
            onChange={({ detail }) => set({ plan: detail.value.trim() })}
          />
        </FormField>
      )}
      <FormField
        label={words.count}
        errorText={flaws.count}
        constraintText={offer?.gpus && count ? words.total(offer.gpus * count) : undefined}
      >
        <Input
          type="number"
          inputMode="numeric"
          value={wish.count}
          onChange={({ detail }) => set({ count: detail.value })}
        />
      </FormField>
      <Quota wish={wish} offers={offers} />
    </SpaceBetween>
  );
}

function Quota({ wish, offers }: Pick<MachineFieldsProps, "wish" | "offers">) {
  if (offers === undefined || wish.type === "" || wish.capacity === "trainingPlan") return null;
  const { left, limit } = headroomOf(wish, offers) ?? {};
  const count = countOf(wish.count) ?? 0;
  if (left == null || limit == null) return <Box color="text-body-secondary">{words.quotaUnknown}</Box>;
  return (
    <StatusIndicator type={count > left ? "warning" : "success"} wrapText>
      {words.quota}: {count > left ? words.over(left) : words.left(left, limit)}
    </StatusIndicator>
  );
}
