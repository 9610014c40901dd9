"""Step 5c, orders: a person's word, folded into the journal. The engine is the only one that folds them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from ulid import ULID

from reconciler.config_repo import names
from reconciler.config_repo.errors import NameRefused
from reconciler.config_repo.records import Order
from reconciler.engine.scope import Scope
from reconciler.engine.signing import Signing
from reconciler.journal.fold import JOURNAL
from reconciler.journal.lines import shorten
from schemas.journal import Phase

LONGEST = 160  # characters of a subject; keys and digests are shorter
STRAY = timedelta(hours=1)  # a cluster may be committed a little after an order for it
DECIDING = ("approve", "release")  # they let pass what waits for a second person
DOES = ("retry", "resolve", *DECIDING)


def take(scope: Scope, orders: Iterable[Order], now: datetime, signing: Signing) -> list[str]:
    """Write the orders of this cluster; returns the ulids that may be removed once the lines are published."""
    taken: list[str] = []
    for order in orders:
        body = order.body
        if order.problem is not None or body.get("cluster") != scope.cluster:
            continue
        taken.append(order.ulid)
        if order.ulid in scope.status.orders:
            continue  # its lines were published, only the ref was left
        do, subject, why = str(body.get("do")), str(body.get("subject", "")), str(body.get("why", ""))
        by = shorten(str(body.get("principal") or order.author), LONGEST)
        problem = _problem(scope, do, subject, str(body.get("as", ""))) or _unsigned(scope, order, do, signing)
        do, subject = shorten(do, LONGEST), shorten(subject, LONGEST)
        said = f"{by} orders: {do} {_named(scope, subject)}" if problem is None else f"order refused: {problem}"
        done = do if problem is None else f"refused {do}"
        until = _until(scope, do, subject, now) if problem is None else None
        why = shorten(problem or why, 200)
        scope.write("order", said, id=order.ulid, do=done, subject=subject, by=by, why=why, until=until)
        if problem is None and do == "resolve":
            happened = str(body.get("as"))
            scope.write(
                "op",
                f"{by} says that {subject} {happened.replace('-', ' ')}",
                op=subject,
                phase=Phase.RESOLVED.value,
                attempt=scope.status.ops[subject].attempt,
                **{"as": happened},
            )
    return taken


def _unsigned(scope: Scope, order: Order, do: str, signing: Signing) -> str | None:
    """Whoever may push an order may write any name into it; a strict policy lets only ours let something pass."""
    if do not in DECIDING or not scope.limits.signed_orders:
        return None
    if signing.is_signed_order(order.ulid, dict(order.body)):
        return None
    return f"{do} counts only when the service wrote it (the policy's approvals.orders): give it over the API"


def strays(orders: Iterable[Order], clusters: Collection[str], now: datetime) -> dict[str, str]:
    """Ulid → what to say, of orders that nobody has taken for long: there is no such cluster, or they cannot be read.
    They are about nothing that a journal could tell of."""
    told: dict[str, str] = {}
    for order in orders:
        cluster = str(order.body.get("cluster"))
        if order.problem is None and cluster in clusters:
            continue
        with contextlib.suppress(ValueError, NameRefused):  # what is no ulid has no age, and is not ours to remove
            if abs(now - ULID.from_str(names.ulid(order.ulid)).datetime) > STRAY:
                why = order.problem or f"there is no cluster {shorten(cluster, 60)}"
                told[order.ulid] = f"order {order.ulid} is removed: {why}"
    return told


def _until(scope: Scope, do: str, subject: str, now: datetime) -> str | None:
    """An approval that is not used up does not last for ever; going on without a lost journal is no approval."""
    if do not in DECIDING or subject == JOURNAL:
        return None
    return (now + timedelta(seconds=scope.limits.expire_after)).isoformat(timespec="seconds")


def _named(scope: Scope, subject: str) -> str:
    """For people: what is held under a digest, what an op is about."""
    held = next((hold.key for hold in scope.status.holds.values() if hold.action == subject), None)
    op = scope.status.ops.get(subject)
    return held or (f"{op.call} of {op.key}" if op is not None else subject)


def _problem(scope: Scope, do: str, subject: str, answer: str) -> str | None:
    if do not in DOES:
        return f"there is no order {shorten(do, 20)!r}; known: {', '.join(DOES)}"
    if not subject or len(subject) > LONGEST:
        return f"an order needs a subject of at most {LONGEST} characters"
    if do != "resolve":
        return None
    op = scope.status.ops.get(subject)
    if op is None or op.phase is not Phase.UNKNOWN:
        return f"{subject} is not an op whose outcome is unknown"
    if answer not in ("happened", "not-happened"):
        return "resolve needs as: happened or not-happened"
    return None
