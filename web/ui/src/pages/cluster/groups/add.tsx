/** A new group: its name, machines, zone, how they are paid for, and how many. */
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { api } from "../../../api/client";
import { MachineFields } from "../../../parts/machines/fields";
import { countOf, flawsOf, MACHINES, specOf } from "../../../parts/machines/machine";
import { Proposal } from "../../../parts/proposal";
import { t } from "../../../texts";
import { added, isName } from "./edits";

interface AddGroupProps {
  readonly cluster: string;
  /** Names of the groups that are there. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function AddGroup({ cluster, taken, onClose }: AddGroupProps) {
  const words = t.groups.add;
  const offers = api.useQuery("get", "/api/v1/offerings", { params: { query: { cluster } } });
  const [name, setName] = useState("");
  const [wish, setWish] = useState(MACHINES);
  const [isTried, setTried] = useState(false);
  const flaws = flawsOf(wish, offers.data);
  const nameFlaw = !isName(name) ? words.nameBad : taken.includes(name) ? words.nameTaken : undefined;

  function edits() {
    setTried(true);
    const isWrong = nameFlaw !== undefined || Object.keys(flaws).length > 0;
    return isWrong ? null : [added(cluster, name, specOf(wish))];
  }

  return (
    <Proposal
      heading={words.title}
      title={words.change(name, countOf(wish.count) ?? 0, wish.type)}
      edits={edits}
      onClose={onClose}
    >
      <FormField label={words.name} constraintText={words.nameHint} errorText={isTried ? nameFlaw : undefined}>
        <Input value={name} autoComplete={false} spellcheck={false} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
      <MachineFields
        wish={wish}
        onChange={setWish}
        flaws={isTried ? flaws : {}}
        offers={offers.data}
        isBlind={offers.isError}
      />
    </Proposal>
  );
}
