"""plan(desired, previous, observed) -> Plan. Pure: pair, then diff, then order.

Unknown is not absent: what could not be seen is neither made nor deleted. Prune is ours minus desired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.plan import diff, order
from reconciler.plan.registry import rule_for
from reconciler.plan.staying import staying
from schemas.plan import Action, Cost, Finding, Plan, Refusal, Severity, Unmanaged, Verb
from schemas.resource import STAGES, Health, Mark, Observed, Presence, Resource, Source, refs_in, resolve
from schemas.values import JsonObject

UNMARKED = "unmarked"  # why a thing is let go of that we made and whose mark somebody took off
# What a document adopts by name, and under which field of spec.adopt.
ADOPTABLE = {"ec2.Vpc": "vpc", "eks.Cluster": "eks", "hyperpod.Cluster": "hyperpod"}


@dataclass(frozen=True, kw_only=True)
class PlanInput:
    """All a plan is made from.

    `previous`: what earlier revisions since the last Ready one wanted, taken together. `moved`: by key, fields that
    they changed on the way. `made`: by key, the id or ARN of what the journal knows to be ours. `due`: keys of
    once-only resources that have their turn. `hold_count_drift`: a count that the world moved is not put back by
    itself (policy). `adopted`: by key, the name or id of what the journal says a document adopted. `unmade`: keys whose
    creation did not succeed: where nothing stands, nobody took it away.
    """

    cluster: str
    revision: str | None
    desired: Mapping[str, Resource]
    previous: Mapping[str, Resource] = field(default_factory=dict[str, Resource])
    moved: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    observed: Mapping[str, Observed]
    due: frozenset[str] = frozenset()
    hold_count_drift: bool = False
    made: Mapping[str, str] = field(default_factory=dict[str, str])
    adopted: Mapping[str, str] = field(default_factory=dict[str, str])
    unmade: frozenset[str] = frozenset()


def make(given: PlanInput) -> Plan:
    """The plan. Same input, same plan, whatever the order of the mappings."""
    work = _Work(given)
    later = [key for key in sorted(given.desired) if work.waits_for_demand(given.desired[key])]
    for key in sorted(given.desired.keys() - set(later)):
        work.pair(given.desired[key])
    while demanded := sorted(work.demanded().intersection(later)):
        later = [key for key in later if key not in demanded]
        for key in demanded:
            work.pair(given.desired[key])
    for key in sorted(given.observed.keys() - given.desired.keys()):
        work.leftover(given.observed[key])
    if work.stopped:  # nothing is built beside, or marked with, what cannot be adopted as the document says
        work.actions.clear()
    actions = order.arrange([a for a in work.actions if not work.goes_with_parent(a)])
    return Plan(
        cluster=given.cluster,
        revision=given.revision,
        actions=actions,
        refusals=tuple(work.refusals),
        findings=tuple(work.findings),
        unmanaged=tuple(work.unmanaged),
        unknown=tuple(sorted(k for k, o in given.observed.items() if o.presence is Presence.UNKNOWN)),
    )


class _Work:
    def __init__(self, given: PlanInput) -> None:
        self.given = given
        self.actions: list[Action] = []
        self.refusals: list[Refusal] = []
        self.findings: list[Finding] = []
        self.unmanaged: list[Unmanaged] = []
        self.stopped = False
        self._staying = staying(given.desired, given.previous, given.observed)

    def waits_for_demand(self, resource: Resource) -> bool:
        """Not there, never made, and there for others only."""
        seen = self.given.observed.get(resource.key)
        absent = seen is not None and seen.presence is Presence.ABSENT
        return resource.on_demand and absent and resource.key not in self.given.made

    def demanded(self) -> set[str]:
        """What the actions so far need."""
        return {need for action in self.actions for need in action.needs}

    def pair(self, resource: Resource) -> None:
        """A desired resource and what was seen of it."""
        rule = rule_for(resource.type)
        seen = self.given.observed.get(resource.key)
        if rule.once:
            self._once(resource, rule.create, seen)
            return
        if self._hands_changed(resource):
            return
        if seen is None or seen.presence is Presence.UNKNOWN:
            return
        if resource.reference:
            self._reference(resource, seen)
        elif seen.presence is Presence.ABSENT:
            self._absent(resource, rule.create)
        elif seen.health is Health.DELETING:
            self._warn(resource, "BeingDeleted", f"{seen.name} is being deleted; it is made again when it is gone")
        elif seen.mark is Mark.FOREIGN:
            self._foreign(resource, seen)
        else:
            self._present(resource, seen)

    def leftover(self, seen: Observed) -> None:
        """Something seen that nobody wants: ours goes, what is not ours is only shown."""
        if not seen.present or seen.health is Health.DELETING or rule_for(seen.type).once:
            return
        previous = self.given.previous.get(seen.key)
        if seen.mark is Mark.FOREIGN and self._was_made_here(seen):
            self._unmarked(seen)
            return
        if seen.mark is Mark.FOREIGN:
            if previous is None or not previous.reference:
                self.unmanaged.append(Unmanaged(key=seen.key, message=seen.message or f"{seen.name} is not ours"))
            return
        if previous is not None and previous.reference:
            return
        rule = rule_for(seen.type)
        stays = seen.mark is Mark.ADOPTED or seen.key in self._staying
        if stays and not rule.marked and seen.mark is not Mark.ADOPTED:
            return  # it stays with what it is in
        self._remove(seen, Verb.RELEASE if stays else Verb.DELETE, "prune" if self.given.desired else "teardown")

    def _unmarked(self, seen: Observed) -> None:
        """Made here, and somebody took the mark off: neither deleted nor left behind without a word. What a document
        adopted is let go of by that alone."""
        adopted = seen.key in self.given.adopted
        self._remove(seen, Verb.RELEASE, "teardown" if adopted else UNMARKED)

    def _remove(self, seen: Observed, verb: Verb, because: str) -> None:
        rule, previous = rule_for(seen.type), self.given.previous.get(seen.key)
        self.actions.append(
            Action(
                verb=verb,
                key=seen.key,
                type=seen.type,
                name=seen.name,
                stage=previous.stage if previous is not None else rule.stage,
                lane=previous.lane if previous is not None else rule.lane_of(self.given.cluster, seen.name),
                cost=rule.delete if verb is Verb.DELETE else Cost.NONE,
                source=previous.source if previous is not None else Source("Cluster", self.given.cluster),
                identity=seen.identity,
                guards={"presence": "present", "identity": seen.identity},
                needs=self._dependents(seen, verb),
                because=because,
            )
        )

    def goes_with_parent(self, action: Action) -> bool:
        """The delete of a child whose parent is deleted in the same plan is the parent's doing."""
        parent = rule_for(action.type).child_of
        if action.verb is not Verb.DELETE or parent is None:
            return False
        return any(a.verb is Verb.DELETE and a.type == parent for a in self.actions)

    def _dependents(self, seen: Observed, verb: Verb) -> tuple[str, ...]:
        """Live things that were built on this one: they go first, or let go of it first. Its children go with it, or
        lose their mark before it does; what was done to it once is nothing that stands. Where no document tells what
        was built on what, all of later stages goes first."""
        if seen.key not in self.given.previous:
            later = (other for other in self.given.observed.values() if self._is_built_later(other, seen))
            return tuple(sorted(other.key for other in later))
        found = [
            other.key
            for other in self.given.previous.values()
            if seen.key in other.needs()
            and not other.reference
            and not rule_for(other.type).once
            and (rule_for(other.type).marked if verb is Verb.RELEASE else rule_for(other.type).child_of != seen.type)
            and self._is_there(self.given.observed.get(other.key))
            and not self._has_let_go(other.key)
        ]
        return tuple(sorted(found))

    def _is_built_later(self, other: Observed, than: Observed) -> bool:
        rule, below = rule_for(other.type), rule_for(than.type)
        kin = rule.once or rule.child_of == below.type or other.key in self.given.desired
        return not kin and self._is_there(other) and STAGES.index(rule.stage) > STAGES.index(below.stage)

    def _is_there(self, seen: Observed | None) -> bool:
        """Also if its mark is off: what it stands on does not go before somebody has said what becomes of it."""
        if seen is None or seen.presence is Presence.ABSENT:
            return False
        return seen.mark is not Mark.FOREIGN or self._was_made_here(seen)

    def _was_made_here(self, seen: Observed) -> bool:
        """By its id; what another cluster has marked since is that one's."""
        known = self.given.made.get(seen.key, "")
        return seen.bar is None and known in (seen.attrs.get("id"), seen.attrs.get("arn"))

    def _has_let_go(self, key: str) -> bool:
        """It stays and needs it no more: all of it could be compared, and nothing is left to change."""
        wanted, seen = self.given.desired.get(key), self.given.observed.get(key)
        if wanted is None or seen is None or not seen.present or seen.health is Health.DELETING:
            return False
        if any(True for _ in refs_in(resolve(wanted.spec, self.given.observed))):
            return False
        return key not in {*(action.key for action in self.actions), *(refusal.key for refusal in self.refusals)}

    def _once(self, resource: Resource, cost: Cost, seen: Observed | None) -> None:
        if resource.key not in self.given.due:
            return
        if seen is not None and seen.presence is Presence.ABSENT:
            message = f"{resource.name} is not a node of this cluster"
            self._refuse(
                resource, "NodeMissing", message, "name an instance that is there; a replaced node has a new id"
            )
            return
        self.actions.append(_action(resource, Verb.RUN, cost, want=resource.spec))

    def _reference(self, resource: Resource, seen: Observed) -> None:
        if seen.mark is Mark.ADOPTED:  # adopted before, and now only used
            self.actions.append(_action(resource, Verb.RELEASE, Cost.NONE, want={}, identity=seen.identity))
        if seen.presence is Presence.ABSENT:
            self._refuse(
                resource, "ReferenceMissing", f"{resource.name} does not exist", "make it, or name another one"
            )
            self.stopped = self.stopped or resource.type in ADOPTABLE

    def _hands_changed(self, resource: Resource) -> bool:
        """The document no longer names what it adopted, or adopts in place of what was made for it."""
        if resource.type not in ADOPTABLE:
            return False
        field = f"spec.adopt.{ADOPTABLE[resource.type]}"
        known, made = self.given.adopted.get(resource.key), self.given.made.get(resource.key)
        named = resource.name if resource.reference else resource.adopt
        if known is not None and named != known:
            text = f"{known} was adopted as {resource.key}, and the document says so no longer"
            way_out = f"put {field}: {known} back; to let go of it, remove the cluster's folder: what was adopted stays"
        elif known is None and made is not None and named is not None:
            text = f"{resource.key} was made here: {named} cannot take its place"
            way_out = f"take {field} out; for another cluster write another folder"
        else:
            return False
        self._refuse(resource, "AdoptChanged", text, way_out)
        self.stopped = True
        return True

    def _absent(self, resource: Resource, cost: Cost) -> None:
        if resource.adopt is not None:
            message = f"{resource.adopt} is to be adopted but does not exist"
            self._refuse(resource, "AdoptMissing", message, "correct the name under spec.adopt, or remove it")
            self.stopped = True
            return
        for ref in refs_in({"spec": resource.spec, "initial": resource.initial, "made_with": resource.made_with}):
            there = self.given.observed.get(ref.key)
            if there is not None and there.present and there.health is Health.HEALTHY and ref.attr not in there.attrs:
                kind, _, what = ref.attr.partition(":")
                known = f"{there.name} has no {what or kind}"
                way_out = "name a zone of this Region" if what else f"give {there.name} one, or choose another"
                self._refuse(resource, "ValueMissing", f"{resource.name} needs it and {known}", way_out)
                return
        want: JsonObject = {**resource.made_with, **resource.spec}
        stood = resource.key in self.given.made and resource.key not in self.given.unmade
        because = "drift" if stood else "git"  # we made it, and somebody took it away
        created = _action(resource, Verb.CREATE, cost, want=want, guards={"presence": "absent"}, because=because)
        self.actions.append(created)

    def _foreign(self, resource: Resource, seen: Observed) -> None:
        known = resource.key in self.given.made and resource.key not in self.given.adopted
        if resource.adopt is not None or (resource.takes_over and not known):
            self._adopt(resource, seen)
            return
        if self._was_made_here(seen):
            want: JsonObject = {"mark": resource.key}
            marked = _action(resource, Verb.MARK, Cost.NONE, want=want, identity=seen.identity, because="drift")
            self.actions.append(marked)
            return
        parent = rule_for(resource.type).child_of
        if parent is not None and any(a.type == parent and a.verb in (Verb.MARK, Verb.ADOPT) for a in self.actions):
            return  # it follows its parent, which is taken over in this plan
        message = f"{resource.name} exists and is not ours" + (f": {seen.bar.message}" if seen.bar is not None else "")
        way_out = "choose another name, or remove that one"
        if resource.type in ADOPTABLE and seen.bar is None:
            way_out = f"name it under spec.adopt.{ADOPTABLE[resource.type]}, or choose another name"
        self._refuse(resource, "NotOurs", message, way_out)

    def _adopt(self, resource: Resource, seen: Observed) -> None:
        """The mark, and beside it what the document wants of the thing: that comes after the mark."""
        if seen.bar is not None:
            self._refuse(resource, seen.bar.reason, seen.bar.message, seen.bar.way_out)
            self.stopped = self.stopped or resource.adopt is not None
            return
        before = len(self.refusals)
        changes: list[Action] = []
        self._present(resource, seen, changes)
        if len(self.refusals) > before:
            self.stopped = self.stopped or resource.adopt is not None
            return  # what cannot become what the document says is not marked as the document's
        want: JsonObject = {"adopt": resource.adopt or resource.name}
        self.actions.append(_action(resource, Verb.ADOPT, Cost.NONE, want=want, identity=seen.identity))
        self.actions.extend(changes)

    def _present(self, resource: Resource, seen: Observed, into: list[Action] | None = None) -> None:
        into = self.actions if into is None else into
        rule = rule_for(resource.type)
        before = self.given.previous.get(resource.key)
        earlier = self.given.moved.get(resource.key, frozenset())
        moved = diff.changes(resource, before, seen, rule, self.given.observed, earlier)
        forbidden = {c.field: why for c in moved if (why := c.rule.forbids(c.observed, c.wanted)) is not None}
        fixed = [c for c in moved if c.rule.cost in (Cost.REFUSED, Cost.REPLACE) and c.field not in forbidden]
        for change in fixed:
            text = f"{change.field} cannot change from {_short(change.observed)} to {_short(change.wanted)}"
            self._refuse(resource, "Immutable", text, change.rule.way_out or rule.way_out)
        for text, way_out in forbidden.values():
            self._refuse(resource, "Impossible", text, way_out)
        if fixed or forbidden or not moved:
            return
        held = [c for c in moved if self.given.hold_count_drift and c.field == "count" and not c.from_git]
        apart = [[c for c in moved if c.field == name] for name in rule.apart]
        rest = [c for c in moved if c not in held and c.field not in rule.apart]
        for group in (held, rest, *apart):
            if group:
                into.append(self._update(resource, seen, group))

    def _update(self, resource: Resource, seen: Observed, moved: list[diff.Change]) -> Action:
        cost = max((c.rule.cost for c in moved), key=list(Cost).index)
        names = tuple(c.field for c in moved)
        return _action(
            resource,
            Verb.UPDATE,
            cost,
            want={**resource.spec, **{c.field: c.written for c in moved}},
            patch=diff.patch(moved),
            guards={"presence": "present", "identity": seen.identity, **_guards(seen, names)},
            identity=seen.identity,
            fields=names,
            because="git" if any(c.from_git for c in moved) else "drift",
        )

    def _refuse(self, resource: Resource, reason: str, message: str, way_out: str) -> None:
        self.refusals.append(
            Refusal(
                key=resource.key,
                stage=resource.stage,
                source=resource.source,
                reason=reason,
                message=message,
                way_out=way_out,
            )
        )

    def _warn(self, resource: Resource, reason: str, message: str) -> None:
        self.findings.append(
            Finding(severity=Severity.WARNING, reason=reason, message=message, source=resource.source, key=resource.key)
        )


def _action(
    resource: Resource,
    verb: Verb,
    cost: Cost,
    *,
    want: JsonObject,
    patch: tuple[JsonObject, ...] = (),
    guards: JsonObject | None = None,
    identity: str = "",
    fields: tuple[str, ...] = (),
    because: str = "git",
) -> Action:
    return Action(
        verb=verb,
        key=resource.key,
        type=resource.type,
        name=resource.name,
        stage=resource.stage,
        lane=resource.lane,
        cost=cost,
        source=resource.source,
        want=want,
        patch=patch,
        guards=guards or {},
        identity=identity,
        needs=resource.needs() if verb is Verb.CREATE else resource.lasting_needs(),
        fields=fields,
        because=because,
    )


def _guards(seen: Observed, names: tuple[str, ...]) -> JsonObject:
    """Only what the change overwrites and what act can read again."""
    return {name: seen.guards[name] for name in names if name in seen.guards}


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
