"""fold(lines) -> status. Pure, and the only reader of the journal's meaning.

A rollout line *replaces* all that was known before it, but for the ids of the orders that were folded, so of what is
older than the newest rollout only those count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reconciler.journal.lines import BrokenLine, newer, numbered, parse, shorten
from schemas.journal import (
    VERSION,
    ClusterStatus,
    Condition,
    EndLine,
    Hold,
    HoldLine,
    Let,
    Line,
    OpLine,
    OpRecord,
    OrderLine,
    Phase,
    RevisionStatus,
    RolloutLine,
    RunLine,
    StageLine,
    StageState,
    StageStatus,
)

JOURNAL = "journal"  # the key of the hold on everything that a doubtful journal must not do
MEND = (
    "Nothing is done until the ref is mended: git log shows its commits, put back the newest that is whole;"
    " or delete the ref, look, and order release CLUSTER journal"
)
_DENIED = "AccessDenied"
_AGAIN = (Phase.INTENT, Phase.REFUSED)  # after these the same op may be announced once more


def fold(cluster: str, notes: Mapping[str, bytes]) -> ClusterStatus:
    """Status of a cluster from its whole journal: annotated revision → note."""
    texts = (line for note in notes.values() for line in note.decode("ascii", "replace").splitlines())
    return fold_lines(cluster, texts)


def fold_lines(cluster: str, texts: Iterable[str]) -> ClusterStatus:
    """Status from lines in any order."""
    return read(cluster, texts).status()


def read(cluster: str, texts: Iterable[str]) -> Fold:
    """The fold of lines in any order, ready to take more. A line that cannot be read, a gap, or two different lines
    with one seq make the journal broken: what could be read before is still told, and nobody writes.

    Of lines before the newest rollout only the numbers and the orders count, and no more of them is held meanwhile: a
    journal of years costs little."""
    state = Fold(cluster=cluster)
    seen: dict[int, int] = {}  # seq → hash of the line
    orders: dict[int, str] = {}  # folded once for ever, so those before the newest rollout count too
    lines: dict[int, str] = {}  # from the newest rollout on
    newest = 0
    for text in texts:
        if not text.strip():
            continue
        try:
            seq, kind = numbered(text)
        except BrokenLine as error:
            state.breaks(str(error))
            continue
        if seen.setdefault(seq, hash(text)) != hash(text):
            state.breaks(f"two different lines with seq {seq}")
            continue
        if kind == "order":
            orders[seq] = text
        if seq >= newest:
            lines[seq] = text
        if kind == "rollout" and seq > newest and _is_rollout(text):
            newest = seq
            lines = {number: line for number, line in lines.items() if number >= newest}

    state.seq = (newest or min(seen, default=1)) - 1
    for seq in sorted(number for number in orders if number < newest):
        line = _parsed(state, orders[seq])
        if isinstance(line, OrderLine) and line.id is not None:
            state.orders.append(line.id)
    for seq in sorted(lines):
        state.take(_parsed(state, lines[seq]), seq)
    return state


def revisions(notes: Mapping[str, bytes]) -> dict[str, RevisionStatus]:
    """What became of each annotated revision: its condition and last stages, for the log."""
    found: dict[str, RevisionStatus] = {}
    for revision, note in notes.items():
        status = fold_lines("", note.decode("ascii", "replace").splitlines())
        reason = status.reason
        if status.condition is Condition.SUPERSEDED and status.last_ready == revision:
            reason = "WasReady"  # it was green before main moved on
        found[revision] = RevisionStatus(
            rev=revision, condition=status.condition, reason=reason, msg=status.msg, stages=status.stages
        )
    return found


def _is_rollout(text: str) -> bool:
    """One that cannot be read replaces nothing."""
    try:
        return isinstance(parse(text), RolloutLine)
    except BrokenLine:
        return False


def _parsed(state: Fold, text: str) -> Line | None:
    try:
        return parse(text)
    except BrokenLine as error:
        state.breaks(str(error))
        return None


@dataclass
class Fold:
    """The status so far. Lines are taken in the order of their seq."""

    cluster: str
    seq: int = 0
    roll: int = 0
    at: str = ""
    broken: str | None = None
    rollout: RolloutLine | None = None
    ready: str | None = None
    since: int = 0
    stages: dict[str, StageStatus] = field(default_factory=dict[str, StageStatus])
    ops: dict[str, OpRecord] = field(default_factory=dict[str, OpRecord])
    done: dict[str, str] = field(default_factory=dict[str, str])
    holds: dict[str, Hold] = field(default_factory=dict[str, Hold])
    approved: list[str] = field(default_factory=list[str])
    lets: dict[str, tuple[Let, ...]] = field(default_factory=dict[str, tuple[Let, ...]])
    orders: list[str] = field(default_factory=list[str])
    retries: dict[str, int] = field(default_factory=dict[str, int])
    kinds: tuple[str, ...] = ()
    refs: dict[str, str] = field(default_factory=dict[str, str])
    adopted: dict[str, str] = field(default_factory=dict[str, str])
    released: dict[str, str] = field(default_factory=dict[str, str])
    ended: EndLine | None = None
    open_ops: dict[str, OpRecord] = field(default_factory=dict[str, OpRecord])  # those of `ops` that are open
    _status: ClusterStatus | None = field(default=None, repr=False, compare=False)

    def feed(self, text: str) -> None:
        """Take a line just written."""
        line = parse(text)
        if line is not None:
            self.take(line, line.seq)

    def take(self, line: Line | None, seq: int) -> None:
        """Take the line of this seq; None is a line of a kind we do not know."""
        if seq != self.seq + 1:
            self.breaks(f"lines are missing before seq {seq}")
        self.seq, self._status = seq, None
        if line is None:
            return
        if line.v > VERSION:
            self.breaks(newer(seq, line.v))
        self.roll, self.at = line.roll, line.at
        try:
            self._take(line)
        except BrokenLine as error:
            self.breaks(str(error))
        if self.rollout is not None and self.condition()[0] is Condition.READY:
            self.ready, self.since = self.rollout.rev, seq

    def breaks(self, why: str) -> None:
        self.broken, self._status = self.broken or why, None

    def _take(self, line: Line) -> None:
        for key in _keys(line):
            if self.cluster and "." in key.split("/")[0] and key.split("/")[1:2] != [self.cluster]:
                raise BrokenLine(f"seq {line.seq} is about {shorten(key, 60)}, which is not of {self.cluster}")
        match line:
            case RolloutLine():
                self._rollout(line)
            case OpLine():
                self._op(line)
            case StageLine():
                self._stage(line)
            case OrderLine():
                self._order(line)
            case HoldLine():
                self._hold(line)
            case RunLine():
                self.done[line.key] = line.state
            case EndLine():
                self.ended = line

    def _rollout(self, line: RolloutLine) -> None:
        self.rollout, self.ended = line, None
        self.ready, self.since = line.ready, line.seq
        self.stages, self.done = {}, dict(line.done)
        self.ops, self.open_ops = {op.op: op for op in line.open}, {op.op: op for op in line.open if op.phase.open}
        self.holds = {hold.key: hold for hold in line.holds}
        self.approved = list(line.approved)
        self.lets = dict(line.lets)
        self.kinds = line.kinds
        self.refs, self.adopted, self.released = dict(line.refs), dict(line.adopted), {}
        self.retries = {}

    def _op(self, line: OpLine) -> None:
        known = self.ops.get(line.op)
        fields = line.model_dump(
            mode="python", by_alias=True, exclude_none=True, exclude={"say", "v", "seq", "roll", "t"}
        )
        if line.phase is Phase.INTENT and (known is None or known.phase in _AGAIN):
            self._put(OpRecord.model_validate({**fields, "seq": line.seq}))
            return
        if known is None:
            raise BrokenLine(f"seq {line.seq}: op {line.op} has no intent")
        if not known.phase.open:
            raise BrokenLine(f"seq {line.seq}: op {line.op} had ended as {known.phase.value}")
        if known.phase is Phase.UNKNOWN and line.phase is not Phase.RESOLVED:
            raise BrokenLine(f"seq {line.seq}: op {line.op} is unknown; only a person resolves it")
        keep = known.model_dump(mode="python", by_alias=True)
        merged = {
            **keep,
            "reason": None,
            "msg": None,
            "next": None,
            **fields,
            "at": known.at,
            "ended": line.at,
            "seq": line.seq,
        }
        op = OpRecord.model_validate(merged)
        self._put(op)
        self._remember(op)

    def _put(self, op: OpRecord) -> None:
        self.ops[op.op] = op
        if op.phase.open:
            self.open_ops[op.op] = op
        else:
            self.open_ops.pop(op.op, None)

    def _remember(self, op: OpRecord) -> None:
        """What was made is known by its id until it is deleted, so that losing its mark does not lose it."""
        made = op.verb in ("create", "adopt") and op.phase in (Phase.SUBMITTED, Phase.SUCCEEDED)
        id_ = (op.ref or {}).get("id") or (op.ref or {}).get("arn")
        if made and id_:
            self.refs[op.key] = str(id_)
        elif op.verb in ("delete", "release") and op.phase is Phase.SUCCEEDED:
            self.refs.pop(op.key, None)
        self._follow(op)

    def _follow(self, op: OpRecord) -> None:
        """What is adopted now, and what was let go of."""
        if op.phase is not Phase.SUCCEEDED:
            return
        if op.verb == "adopt":
            self.adopted[op.key] = str(op.before.get("adopt") or op.key)
        elif op.verb == "release":
            name = self.adopted.pop(op.key, "")
            self.released[op.key] = f"{op.key} ({name})" if name else op.key

    def _stage(self, line: StageLine) -> None:
        self.stages[line.stage] = StageStatus(
            state=line.state, reason=line.reason, msg=line.msg, progress=line.progress, at=line.at, seq=line.seq
        )

    def _hold(self, line: HoldLine) -> None:
        if line.key == JOURNAL and line.state == "held" and JOURNAL in self.approved:
            self.approved.remove(JOURNAL)  # that word was about what was lost before
            self.lets.pop(JOURNAL, None)
        self.holds[line.key] = Hold(
            key=line.key, action=line.action, reason=line.reason, state=line.state, msg=line.msg, at=line.at
        )

    def _order(self, line: OrderLine) -> None:
        if line.id is not None:
            self.orders.append(line.id)
        if line.do == "retry":
            self.retries[line.subject] = line.seq
        if line.do in ("approve", "release"):
            self._let_pass(line.subject, Let(by=line.by, until=line.until, order=line.id or ""))

    def _let_pass(self, subject: str, let: Let) -> None:
        """An approval binds to action digests: a key stands for the action that is held under it now."""
        passed = {subject: None} if len(subject) == 64 or subject == JOURNAL else {}
        for key, hold in self.holds.items():
            if hold.state == "held" and subject in (key, hold.action):
                if hold.action:
                    passed[hold.action] = None
                self.holds[key] = hold.model_copy(update={"state": "released"})
        self.approved += [digest for digest in passed if digest not in self.approved]
        for digest in passed:
            self.lets[digest] = (*self.lets.get(digest, ()), let)

    def condition(self) -> tuple[Condition, str, str]:
        """(condition, reason, message); the reason is the one of the worst thing found."""
        if self.rollout is None:
            return Condition.UNKNOWN, "NoJournal", "nothing was ever applied here"
        if self.ended is not None:
            return Condition.SUPERSEDED, "Superseded", f"main moved on to {self.ended.by[:7]}"
        unknown = next((op for op in self.open_ops.values() if op.phase is Phase.UNKNOWN), None)
        if unknown is not None:
            return (
                Condition.STALLED,
                "OutcomeUnknown",
                f"{unknown.call} of {unknown.key}: a person must resolve {unknown.op}",
            )
        failed = next(((n, s) for n, s in self.stages.items() if _stops(s)), None)
        if failed is not None:
            return Condition.STALLED, failed[1].reason, f"{failed[0]}: {failed[1].msg}"
        held = [hold for hold in self.holds.values() if hold.state == "held"]
        if held:
            more = f" (and {len(held) - 1} more)" if len(held) > 1 else ""
            return Condition.STALLED, held[0].reason, f"{held[0].msg or held[0].key + ' is held'}{more}"
        if self._all_ready() and not self.open_ops:
            return Condition.READY, "Ready", ""
        busy = next(((n, s) for n, s in self.stages.items() if s.state is not StageState.READY), None)
        if busy is not None:
            return (
                Condition.RECONCILING,
                busy[1].reason or busy[1].state.value,
                f"{busy[0]}: {busy[1].msg}".rstrip(": "),
            )
        return Condition.RECONCILING, "Progressing", ""

    def _all_ready(self) -> bool:
        """Every stage that the rollout has, and every one told of since."""
        told = self.rollout.stages if self.rollout is not None else ()
        states = [s.state for s in self.stages.values()]
        return bool(states) and self.stages.keys() >= set(told) and all(s is StageState.READY for s in states)

    def status(self) -> ClusterStatus:
        """A picture of now; the same one as long as no line is taken."""
        if self._status is None:
            self._status = self._told()
        return self._status

    def _told(self) -> ClusterStatus:
        condition, reason, msg = self.condition()
        gone = self.rollout is not None and self.rollout.input is None and condition is Condition.READY
        if self.broken is not None:
            condition, reason, msg, gone = Condition.STALLED, "JournalBroken", f"{self.broken}. {MEND}", False
        if gone and self.released:
            msg = shorten(f"released, not deleted: {', '.join(sorted(self.released.values()))}", 500)
        rollout = self.rollout
        return ClusterStatus(
            cluster=self.cluster,
            seq=self.seq,
            at=self.at,
            roll=self.roll,
            rev=None if rollout is None else rollout.rev,
            input=None if rollout is None else rollout.input,
            started="" if rollout is None else rollout.at,
            base=() if rollout is None else rollout.base,
            last_ready=self.ready,
            since=self.since,
            plan=None if rollout is None else rollout.plan,
            condition=Condition.GONE if gone else condition,
            reason=reason,
            msg=msg,
            stages=self.stages,
            ops=self.ops,
            done=self.done,
            holds=self.holds,
            approved=tuple(self.approved),
            lets=self.lets,
            orders=tuple(self.orders),
            retries=self.retries,
            kinds=self.kinds,
            refs=self.refs,
            adopted=self.adopted,
            gone=gone,
            broken=self.broken,
        )


def _stops(stage: StageStatus) -> bool:
    """It failed, or it cannot be seen for want of a right, which nobody but a person can give."""
    return stage.state is StageState.FAILED or (stage.state is StageState.UNKNOWN and stage.reason == _DENIED)


def _keys(line: Line) -> Iterable[str]:
    """Keys of what a line is about; those with a type in front name their cluster."""
    match line:
        case RolloutLine():
            yield from line.refs
            yield from (hold.key for hold in line.holds)
            yield from (op.key for op in line.open)
        case OpLine() if line.key is not None:
            yield line.key
        case HoldLine():
            yield line.key
        case _:
            return
