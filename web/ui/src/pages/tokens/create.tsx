/** The form of a new token. It offers only what its maker may give: the API would refuse the rest. */
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import Multiselect from "@cloudscape-design/components/multiselect";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { flawOf } from "../../api/problems";
import type { TokenAsked, TokenMade } from "../../api/schema";
import { type Scope, useSession } from "../../api/session";
import { ProblemAlert } from "../../frame/problem-alert";
import { dayOf } from "../../parts/times";
import { t } from "../../texts";
import { AGENT_SCOPES, type DocumentKind, flawsOf, given, reachOf, SCOPES } from "./wish";

const DAY = 86_400_000;
const FORM = "create-token";
const KINDS: readonly DocumentKind[] = ["Cluster", "InstanceGroup", "Storage", "Operation", "Policy"];

export function CreateToken({ onDone }: { readonly onDone: (made: TokenMade | null) => void }) {
  const { who, may } = useSession();
  const [kind, setKind] = useState<TokenAsked["kind"]>("agent");
  const [agentName, setAgentName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [paths, setPaths] = useState(who.reach.paths.join(", "));
  const [kinds, setKinds] = useState<readonly DocumentKind[]>(who.reach.kinds);
  const [days, setDays] = useState(30);
  const [isTried, setTried] = useState(false);
  const create = api.useMutation("post", "/api/v1/tokens", { onSuccess: onDone });
  const wish: TokenAsked = {
    kind,
    name: kind === "person" ? who.name : agentName.trim(),
    scopes: given(scopes, kind),
    reach: reachOf(paths, kinds),
    days,
  };
  const flaws = flawsOf(wish);

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (Object.keys(flaws).length === 0) create.mutate({ body: wish });
  }

  return (
    <Modal
      visible
      onDismiss={() => onDone(null)}
      header={t.tokens.form.title}
      closeAriaLabel={t.common.close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => onDone(null)}>
              {t.common.cancel}
            </Button>
            <Button variant="primary" form={FORM} formAction="submit" loading={create.isPending}>
              {t.tokens.create}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <SpaceBetween size="l">
          {create.isError && <ProblemAlert error={create.error} />}
          <FormField label={t.tokens.form.kind} stretch>
            <Tiles
              value={kind}
              columns={2}
              ariaLabel={t.tokens.form.kind}
              onChange={({ detail }) => setKind(detail.value as TokenAsked["kind"])}
              items={[
                { value: "agent", label: t.tokens.form.agent.label, description: t.tokens.form.agent.text },
                { value: "person", label: t.tokens.form.person.label, description: t.tokens.form.person.text },
              ]}
            />
          </FormField>
          <FormField
            label={t.tokens.form.name}
            constraintText={kind === "person" ? t.tokens.form.ownName : t.tokens.form.nameHint}
            errorText={(isTried && flaws.name) || flawOf(create.error, "name")}
          >
            <Input
              value={kind === "person" ? who.name : agentName}
              readOnly={kind === "person"}
              placeholder={t.tokens.form.namePlaceholder}
              onChange={({ detail }) => setAgentName(detail.value)}
              autoComplete={false}
              spellcheck={false}
            />
          </FormField>
          <FormField
            label={t.tokens.form.scopes}
            errorText={(isTried && flaws.scopes) || flawOf(create.error, "scopes")}
          >
            <SpaceBetween size="xs">
              {SCOPES.map((scope) => {
                const isForbidden = kind === "agent" && !AGENT_SCOPES.includes(scope);
                const why = isForbidden ? t.tokens.form.agentNever : may(scope) ? undefined : t.tokens.form.youLack;
                return (
                  <Checkbox
                    key={scope}
                    checked={wish.scopes.includes(scope)}
                    disabled={why !== undefined}
                    description={why ?? t.scopes[scope].means}
                    onChange={({ detail }) =>
                      setScopes(detail.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                    }
                  >
                    {t.scopes[scope].name}
                  </Checkbox>
                );
              })}
            </SpaceBetween>
          </FormField>
          <FormField
            label={t.tokens.form.reach}
            constraintText={t.tokens.form.reachHint}
            errorText={(isTried && flaws.reach) || flawOf(create.error, "reach")}
          >
            <Input
              value={paths}
              placeholder={t.tokens.form.reachPlaceholder}
              onChange={({ detail }) => setPaths(detail.value)}
              autoComplete={false}
              spellcheck={false}
            />
          </FormField>
          <FormField label={t.tokens.form.documents} constraintText={t.tokens.form.documentsHint}>
            <Multiselect
              selectedOptions={kinds.map((value) => ({ value }))}
              options={KINDS.map((value) => ({ value }))}
              placeholder={t.tokens.form.documentsPlaceholder}
              onChange={({ detail }) => setKinds(detail.selectedOptions.map(({ value }) => value as DocumentKind))}
            />
          </FormField>
          <FormField
            label={t.tokens.form.days}
            constraintText={t.tokens.form.on(dayOf(Date.now() + days * DAY))}
            errorText={flawOf(create.error, "days")}
          >
            <Select
              selectedOption={{ value: String(days), label: t.tokens.form.daysOptions[days] }}
              options={Object.entries(t.tokens.form.daysOptions).map(([value, label]) => ({ value, label }))}
              onChange={({ detail }) => setDays(Number(detail.selectedOption.value))}
            />
          </FormField>
        </SpaceBetween>
      </form>
    </Modal>
  );
}
