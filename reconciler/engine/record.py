"""Step 8: stage lines, and publishing the lines of all clusters of a tick in one go; after step 9 once more, what
replies said. What of that the journal cannot take waits in memory for the next tick."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence

from reconciler.config_repo.records import NotesAppend, NotesResult
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine import doubt, stages
from reconciler.engine.scope import Scope
from reconciler.engine.trouble import Trouble
from reconciler.journal.lines import HEAD
from schemas.errors import InstantStartError, RetryLater
from schemas.journal import Phase, StageState, StageStatus
from schemas.resource import Presence

UNKNOWN_LOOKS = 3
UNKNOWN_AFTER = 300.0
log = logging.getLogger(__name__)


def record_stages(scope: Scope) -> None:
    """Write the stages that moved. An Unknown is journalled only when it lasts: a blink makes no pair of lines."""
    known = scope.status.stages
    # Ready comes last: a revision whose lines so far all say Ready would be green while something is not.
    for name, now in sorted(stages.states(scope).items(), key=lambda item: item[1].state is StageState.READY):
        before = known.get(name)
        if now.state is StageState.UNKNOWN and not _lasts(scope):
            if before is not None:
                continue
            # A rollout tells of every stage from the beginning: what nobody has seen is not Ready.
            now = stages.State(state=StageState.WAITING, reason=now.reason or "NotSeen", msg=now.msg)
        if not stages.differs(before, now) or _was_told(scope, name, before, now):
            continue
        said = f"{name} {now.state.value}" + (f": {now.reason}" if now.reason else "")
        scope.write(
            "stage",
            said,
            stage=name,
            state=now.state.value,
            reason=now.reason,
            msg=now.msg,
            progress=now.progress,
        )


def _was_told(scope: Scope, name: str, before: StageStatus | None, now: stages.State) -> bool:
    """While a stage stays Unknown each reason is told once: a cloud that fails in turns writes no line each time."""
    if now.state is not StageState.UNKNOWN:
        return False
    told = scope.memory.unknown_told
    again = before is not None and before.state is StageState.UNKNOWN and (name, now.reason) in told
    told.add((name, now.reason))
    return again


def catch_up(scope: Scope) -> None:
    """Write again what replies said when the journal could not take it. What was resolved since stays as it is."""
    for op, line in list(scope.memory.outcomes.items()):
        known = scope.status.ops.get(op)
        if known is None or not known.phase.open or known.phase is Phase.UNKNOWN or known.attempt > line["attempt"]:
            continue
        if (known.phase, known.reason) == (line["phase"], line.get("reason")):
            continue
        kept = {key: value for key, value in line.items() if key not in HEAD}
        scope.write("op", str(line["say"]), revision=scope.status.rev, **kept)


def note_blindness(scope: Scope, now: float) -> None:
    """Count looks that failed in a row."""
    blind = any(seen.presence is Presence.UNKNOWN for seen in scope.observed.values())
    memory = scope.memory
    if not blind:
        memory.failed_looks, memory.unseen_since = 0, None
        memory.unknown_told.clear()
        memory.looked = now
        memory.seen = dict(scope.observed)
        return
    memory.failed_looks += 1
    memory.unseen_since = memory.unseen_since or now


def _lasts(scope: Scope) -> bool:
    memory = scope.memory
    if memory.failed_looks >= UNKNOWN_LOOKS:
        return True
    world = scope.world
    since = memory.unseen_since
    return world is not None and since is not None and world.clock.now().timestamp() - since >= UNKNOWN_AFTER


def publish(repo: ConfigRepo, scopes: Sequence[Scope], *, replies: bool) -> dict[str, str | None]:
    """One notes commit per cluster, one push for all. Returns the clusters that were rejected, with the words of the
    other side: nothing may be sent for them in this tick, and their journal is read again. `replies`: these lines are
    what replies said; they are true whether or not they were accepted, and wait."""
    batch = [_append(scope) for scope in scopes if scope.pen.lines]
    if not batch:
        return {}
    results = _append_all(repo, batch)
    rejected: dict[str, str | None] = {}
    for scope in scopes:
        if not scope.pen.lines:
            continue
        result = results[scope.cluster]
        if result.accepted:
            scope.memory.accepted(result.tip)
            if doubt.is_held(scope.status):
                scope.memory.lost = None
            elif scope.memory.lost is None:
                scope.memory.lost_tip = None  # a person has released it: from here on it goes back like any other
        else:
            rejected[scope.cluster] = result.rejected_by
            if replies:
                _keep_outcomes(scope)
            text = f"the journal was not accepted: {result.rejected_by}"
            scope.give_up(Trouble(reason="JournalNotAccepted", msg=text))
        scope.pen.lines = []
    _keep(repo, [scope for scope in scopes if scope.cluster in results and scope.cluster not in rejected])
    return rejected


def _keep(repo: ConfigRepo, accepted: Sequence[Scope]) -> None:
    """Before anything is sent: a process that dies behind it leaves word of what the journal held."""
    try:
        doubt.keep(repo, [scope.memory for scope in accepted])
    except InstantStartError as error:  # the next tick tries again, and tells it of the cluster
        log.warning("what the journals hold could not be kept: %s", error.message)


def _keep_outcomes(scope: Scope) -> None:
    lines = (json.loads(text) for _, text in scope.pen.lines)
    scope.memory.outcomes |= {line["op"]: line for line in lines if line["t"] == "op"}


def _append_all(repo: ConfigRepo, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
    """All together. If that cannot be, because of what one of them says, each alone."""
    try:
        return repo.append_notes(batch)
    except RetryLater as error:  # it may have arrived or not: nothing counts before it was read again
        return {item.name: _refused(error) for item in batch}
    except InstantStartError as error:
        if len(batch) == 1:
            return {batch[0].name: _refused(error)}
        return {cluster: found for item in batch for cluster, found in _append_all(repo, [item]).items()}


def _refused(error: InstantStartError) -> NotesResult:
    return NotesResult(accepted=False, tip=None, rejected_by=f"{error.reason}: {error.message}")


def _append(scope: Scope) -> NotesAppend:
    lines = list(scope.pen.lines)
    opens = any('"t":"rollout"' in text for _, text in lines)
    status = scope.status
    subject = f"{scope.cluster} {scope.pen.seq}: {status.condition.value} ({scope.revision[:7]})"
    return NotesAppend(
        name=scope.cluster,
        expected_tip=scope.memory.tip,
        lines=lines,
        subject=_subject(scope, lines) or subject,
        revision_parent=scope.revision if opens else None,
    )


def _subject(scope: Scope, lines: Iterable[tuple[str, str]]) -> str | None:
    """The newest stage transition, as `git log` of the notes ref shows it: `prod 46: control-plane Ready (51d09e7)`."""
    newest = None
    for stage, status in scope.status.stages.items():
        if newest is None or status.seq > newest[1].seq:
            newest = (stage, status)
    first_seq = scope.pen.seq - len(list(lines)) + 1
    if newest is None or newest[1].seq < first_seq:
        return None
    return f"{scope.cluster} {scope.pen.seq}: {newest[0]} {newest[1].state.value} ({scope.revision[:7]})"
