/** All settings in one form, and from it one change with only what became different, which is told while one writes. */
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { api } from "../../../api/client";
import type { DocumentView, OfferingsView } from "../../../api/schema";
import { Absent } from "../../../parts/card";
import { Proposal } from "../../../parts/proposal";
import { valueText } from "../../../parts/values";
import { t } from "../../../texts";
import { specOf, useWritten } from "../groups/written";
import { pointerOf, type Step } from "./patch";
import {
  type Flaws,
  flawsOf,
  LOGS,
  minorOf,
  NEEDED_ADDONS,
  POLICIES,
  settingSteps,
  USUAL_ADDONS,
  type Wish,
  wishOf,
} from "./wish";

const words = t.settings;

interface ChangeSettingsProps {
  readonly cluster: string;
  readonly onClose: () => void;
}

export function ChangeSettings({ cluster, onClose }: ChangeSettingsProps) {
  const written = useWritten(cluster, "Cluster", cluster);
  const offers = api.useQuery("get", "/api/v1/offerings", { params: { query: { cluster } } });
  const [touched, setTouched] = useState<Partial<Wish>>({});
  const [isTried, setTried] = useState(false);
  const now = written.data && wishOf(specOf(written.data.model));
  const wish = now && { ...now, ...touched };
  const flaws = now && wish ? flawsOf(wish, now) : {};
  const steps = written.data && now && wish ? settingSteps(written.data.document, now, wish) : [];

  function edits() {
    setTried(true);
    if (Object.keys(flaws).length > 0 || steps.length === 0) return null;
    return [
      { edit: "patch" as const, cluster, kind: "Cluster", name: cluster, patch: steps.map((one) => ({ ...one })) },
    ];
  }

  return (
    <Proposal
      heading={words.heading(cluster)}
      title={words.heading(cluster)}
      base={written.data?.revision}
      edits={edits}
      onClose={onClose}
      size="large"
    >
      {written.data === undefined || now === undefined || wish === undefined ? (
        <Absent error={written.error} onRetry={() => void written.refetch()} />
      ) : (
        <>
          <Fields
            now={now}
            wish={wish}
            flaws={isTried ? flaws : {}}
            offers={offers.data}
            onChange={(more) => setTouched({ ...touched, ...more })}
          />
          <Differs written={written.data} steps={steps} isTried={isTried} />
        </>
      )}
    </Proposal>
  );
}

interface FieldsProps {
  readonly now: Wish;
  readonly wish: Wish;
  readonly flaws: Flaws;
  readonly offers: OfferingsView | undefined;
  readonly onChange: (more: Partial<Wish>) => void;
}

function Fields(props: FieldsProps) {
  const { wish, flaws, onChange } = props;
  return (
    <SpaceBetween size="m">
      <Version {...props} />
      <FormField label={words.fields.recovery}>
        <RadioGroup
          value={wish.recovery}
          onChange={({ detail }) => onChange({ recovery: detail.value })}
          items={["Automatic", "None"].map((value) => ({ value, label: words.recoveries[value] ?? value }))}
        />
      </FormField>
      <Section title={words.fields.addons} flaw={flaws.addons} text={words.addonText}>
        <Addons {...props} />
      </Section>
      <Section title={words.fields.tags} flaw={flaws.tags} text={words.tagsText}>
        <Tags {...props} />
      </Section>
      <Section title={words.fields.logging}>
        {LOGS.map((name) => (
          <Checkbox
            key={name}
            checked={wish.logging.includes(name)}
            onChange={({ detail }) =>
              onChange({
                logging: detail.checked ? [...wish.logging, name] : wish.logging.filter((one) => one !== name),
              })
            }
          >
            {words.logNames[name]}
          </Checkbox>
        ))}
      </Section>
      <Section title={words.fields.endpoint} flaw={flaws.isPublic ?? flaws.cidrs}>
        <Checkbox checked={wish.isPrivate} onChange={({ detail }) => onChange({ isPrivate: detail.checked })}>
          {words.isPrivate}
        </Checkbox>
        <Checkbox checked={wish.isPublic} onChange={({ detail }) => onChange({ isPublic: detail.checked })}>
          {words.isPublic}
        </Checkbox>
        {wish.isPublic && (
          <FormField label={words.cidrs} constraintText={words.cidrsHint}>
            <Input value={wish.cidrs} onChange={({ detail }) => onChange({ cidrs: detail.value })} />
          </FormField>
        )}
      </Section>
      <Section title={words.fields.access} flaw={flaws.access}>
        <Access {...props} />
      </Section>
      <Section title={words.fields.script} flaw={flaws.script}>
        <FormField constraintText={words.script} stretch>
          <Input
            value={wish.script}
            ariaLabel={words.fields.script}
            placeholder={words.scriptNone}
            onChange={({ detail }) => onChange({ script: detail.value.trim() })}
          />
        </FormField>
      </Section>
    </SpaceBetween>
  );
}

interface SectionProps {
  readonly title: string;
  readonly flaw?: string;
  readonly text?: string;
  readonly children: ReactNode;
}

/** Closed until somebody wants it, or something in it is wrong. */
function Section({ title, flaw, text, children }: SectionProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <ExpandableSection
      headerText={title}
      expanded={isOpen || flaw !== undefined}
      onChange={({ detail }) => setOpen(detail.expanded)}
    >
      <FormField errorText={flaw} description={text} stretch>
        <SpaceBetween size="xs">{children}</SpaceBetween>
      </FormField>
    </ExpandableSection>
  );
}

function Version({ now, wish, flaws, offers, onChange }: FieldsProps) {
  const minor = minorOf(now.version) ?? 0;
  const next = offers?.kubernetes_versions?.find(({ version }) => minorOf(version) === minor + 1);
  const ends = next?.standard_support_ends?.slice(0, 10) ?? "";
  const options = [
    { value: now.version, label: words.versionNow(now.version) },
    ...(offers?.kubernetes_versions == null
      ? [{ value: `1.${minor + 1}`, label: `1.${minor + 1}` }]
      : next
        ? [{ value: next.version, label: words.nextVersion(next.version, ends) }]
        : []),
  ];
  return (
    <FormField label={words.fields.version} constraintText={words.versionText} errorText={flaws.version}>
      <Select
        selectedOption={options.find(({ value }) => value === wish.version) ?? null}
        options={options}
        onChange={({ detail }) => onChange({ version: detail.selectedOption.value ?? now.version })}
      />
    </FormField>
  );
}

function Addons({ wish: { addons }, onChange }: FieldsProps) {
  const set = (index: number, more: Partial<Wish["addons"][number]>) =>
    onChange({ addons: addons.map((one, place) => (place === index ? { ...one, ...more } : one)) });
  return (
    <AttributeEditor
      items={addons}
      addButtonText={words.addonAdd}
      removeButtonText={words.remove}
      removeButtonAriaLabel={({ name }) => `${words.remove} ${name}`}
      isItemRemovable={({ name }) => !USUAL_ADDONS.includes(name)}
      onAddButtonClick={() => onChange({ addons: [...addons, { name: "", version: "", enabled: true }] })}
      onRemoveButtonClick={({ detail }) =>
        onChange({ addons: addons.filter((_, place) => place !== detail.itemIndex) })
      }
      definition={[
        {
          label: words.addonName,
          control: ({ name }, index) => (
            <Input
              value={name}
              readOnly={USUAL_ADDONS.includes(name) && index < USUAL_ADDONS.length}
              onChange={({ detail }) => set(index, { name: detail.value })}
            />
          ),
        },
        {
          label: words.addonVersion,
          control: ({ version }, index) => (
            <Input
              value={version}
              placeholder={words.recommended}
              onChange={({ detail }) => set(index, { version: detail.value.trim() })}
            />
          ),
        },
        {
          label: words.addonOn,
          control: ({ name, enabled }, index) => (
            <Select
              disabled={NEEDED_ADDONS.includes(name)}
              selectedOption={enabled ? YES : NO}
              options={[YES, NO]}
              onChange={({ detail }) => set(index, { enabled: detail.selectedOption.value === YES.value })}
            />
          ),
        },
      ]}
    />
  );
}

const YES = { value: "yes", label: words.yes };
const NO = { value: "no", label: words.no };

function Tags({ wish: { tags }, onChange }: FieldsProps) {
  const set = (index: number, more: Partial<Wish["tags"][number]>) =>
    onChange({ tags: tags.map((one, place) => (place === index ? { ...one, ...more } : one)) });
  return (
    <AttributeEditor
      items={tags}
      empty={words.none}
      addButtonText={words.tagAdd}
      removeButtonText={words.remove}
      removeButtonAriaLabel={({ key }) => `${words.remove} ${key}`}
      onAddButtonClick={() => onChange({ tags: [...tags, { key: "", value: "" }] })}
      onRemoveButtonClick={({ detail }) => onChange({ tags: tags.filter((_, place) => place !== detail.itemIndex) })}
      definition={[
        {
          label: t.groups.labels.key,
          control: ({ key }, index) => (
            <Input value={key} onChange={({ detail }) => set(index, { key: detail.value })} />
          ),
        },
        {
          label: t.groups.labels.value,
          control: ({ value }, index) => (
            <Input value={value} onChange={({ detail }) => set(index, { value: detail.value })} />
          ),
        },
      ]}
    />
  );
}

function Access({ wish: { access }, onChange }: FieldsProps) {
  const set = (index: number, more: Partial<Wish["access"][number]>) =>
    onChange({ access: access.map((one, place) => (place === index ? { ...one, ...more } : one)) });
  return (
    <AttributeEditor
      items={access}
      empty={words.accessNone}
      addButtonText={words.accessAdd}
      removeButtonText={words.remove}
      removeButtonAriaLabel={({ principal }) => `${words.remove} ${principal}`}
      onAddButtonClick={() =>
        onChange({ access: [...access, { principal: "", policy: "AmazonEKSViewPolicy", namespaces: "" }] })
      }
      onRemoveButtonClick={({ detail }) =>
        onChange({ access: access.filter((_, place) => place !== detail.itemIndex) })
      }
      definition={[
        {
          label: words.principal,
          control: ({ principal }, index) => (
            <Input value={principal} onChange={({ detail }) => set(index, { principal: detail.value.trim() })} />
          ),
        },
        {
          label: words.policy,
          control: ({ policy }, index) => (
            <Select
              selectedOption={{ value: policy, label: policy }}
              options={POLICIES.map((value) => ({ value, label: value }))}
              onChange={({ detail }) => set(index, { policy: detail.selectedOption.value ?? policy })}
            />
          ),
        },
        {
          label: words.namespaces,
          control: ({ namespaces }, index) => (
            <Input
              value={namespaces}
              placeholder={words.namespacesHint}
              onChange={({ detail }) => set(index, { namespaces: detail.value })}
            />
          ),
        },
      ]}
    />
  );
}

interface DiffersProps {
  readonly written: DocumentView;
  readonly steps: readonly Step[];
  readonly isTried: boolean;
}

/** What is sent, field by field. */
function Differs({ written, steps, isTried }: DiffersProps) {
  return (
    <FormField label={words.differs} errorText={isTried && steps.length === 0 ? words.same : undefined} stretch>
      {steps.length === 0 ? (
        <Box color="text-body-secondary">{words.same}</Box>
      ) : (
        <ul className="plain-list wrap-anywhere" aria-label={words.differs}>
          {steps.flatMap(fieldsOf).map(({ path, op, value }) => (
            <li key={`${op} ${path} ${JSON.stringify(value)}`}>
              {path.slice("/spec/".length).replaceAll("/", ".").replaceAll("~1", "/")}:{" "}
              <Box variant="code">{valueText(valueAt(written, path), t.plan.absent)}</Box> →{" "}
              <Box variant="code">{op === "remove" ? words.gone : valueText(value, t.plan.absent)}</Box>
            </li>
          ))}
        </ul>
      )}
    </FormField>
  );
}

/** A step that brings a whole map, field by field. */
function fieldsOf(step: Step): Step[] {
  const { op, path, value } = step;
  if (typeof value !== "object" || value === null || Array.isArray(value) || path.endsWith("/-")) return [step];
  return Object.entries(value).flatMap(([key, inner]) => fieldsOf({ op, path: path + pointerOf([key]), value: inner }));
}

/** With defaults: what holds before. */
function valueAt({ model }: DocumentView, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (place, part) =>
        typeof place === "object" && place !== null ? (place as Record<string, unknown>)[part] : undefined,
      model,
    );
}
