/** The steps of the form, each with what is wrong at its fields once somebody tried to go on. */
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { OfferingsView } from "../../api/schema";
import { MachineFields } from "../../parts/machines/fields";
import { t } from "../../texts";
import type { Flaws, Wish } from "./wish";

interface StepProps {
  readonly wish: Wish;
  readonly onChange: (more: Partial<Wish>) => void;
  readonly flaws: Flaws;
  readonly offers: OfferingsView | undefined;
  readonly isBlind: boolean;
}

const words = t.create;

type TextField = "name" | "account" | "region" | "version" | "group" | "bucket";
interface TextProps extends Pick<StepProps, "wish" | "onChange" | "flaws"> {
  readonly field: TextField;
  readonly label: string;
  readonly hint?: string;
}

function Text({ field, label, hint, wish, onChange, flaws }: TextProps) {
  return (
    <FormField label={label} constraintText={hint} errorText={flaws[field]}>
      <Input
        value={wish[field]}
        autoComplete={false}
        spellcheck={false}
        onChange={({ detail }) => onChange({ [field]: detail.value.trim() })}
      />
    </FormField>
  );
}

export function ClusterStep(props: StepProps) {
  return (
    <Container>
      <SpaceBetween size="l">
        <Text {...props} field="name" label={words.name} hint={words.nameHint} />
        <Text {...props} field="account" label={words.account} hint={words.accountHint} />
        <Text {...props} field="region" label={words.region} hint={words.regionHint} />
        <Text {...props} field="version" label={words.version} hint={words.versionHint} />
      </SpaceBetween>
    </Container>
  );
}

export function MachinesStep(props: StepProps) {
  const { wish, onChange, flaws, offers, isBlind } = props;
  return (
    <Container>
      <SpaceBetween size="l">
        <Text {...props} field="group" label={words.group} hint={t.groups.add.nameHint} />
        <MachineFields
          wish={wish.machines}
          onChange={(machines) => onChange({ machines })}
          flaws={flaws.machines}
          offers={offers}
          isBlind={isBlind}
        />
      </SpaceBetween>
    </Container>
  );
}

const KINDS = ["own", "bucket", "none"] as const;

export function StorageStep(props: StepProps) {
  const { wish, onChange } = props;
  return (
    <Container>
      <SpaceBetween size="l">
        <FormField label={words.storage.label}>
          <RadioGroup
            value={wish.storage}
            onChange={({ detail }) => onChange({ storage: detail.value as Wish["storage"] })}
            items={KINDS.map((value) => ({
              value,
              label: words.storage[value].label,
              description: words.storage[value].text,
            }))}
          />
        </FormField>
        {wish.storage === "bucket" && <Text {...props} field="bucket" label={words.storage.bucketName} />}
      </SpaceBetween>
    </Container>
  );
}
