"""Step 3: look at everything a cluster wants or wanted. Reads only.

Families look side by side, in layers where one must have seen what another needs. A look that fails makes its whole
family Unknown: nothing there is made or deleted on its strength.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor

from reconciler.desired.names import type_of
from reconciler.engine.doubt import doubt
from reconciler.engine.scope import Scope
from reconciler.live.aws.accounts import AwsAccounts
from reconciler.live.clock import Clock
from reconciler.live.kube.cluster import KubeCluster
from reconciler.resources.handler import Handler, World
from schemas.errors import InstantStartError, InvalidInput, RetryLater
from schemas.resource import Health, Observed, Presence, Resource, unknown

log = logging.getLogger(__name__)
KubeOf = Callable[[World], KubeCluster]


def enter(
    scope: Scope, accounts: AwsAccounts, kube_of: KubeOf, clock: Clock, read_file: Callable[[str], bytes], cache: str
) -> None:
    """Make the world of this tick: sessions and what is wanted; nothing is called yet."""
    if not scope.account:
        scope.blind = InvalidInput("no revision tells which account this cluster is in", reason="NoAccount")
        return
    world = World(
        cluster=scope.cluster,
        account=scope.account,
        region=scope.region,
        aws=accounts.session(scope.account, scope.region),
        kube=lambda: kube_of(world),
        clock=clock,
        desired=dict(scope.desired.resources) if scope.desired is not None else {},
        previous=scope.previous,
        observed=scope.observed,
        file=read_file,
        cache_dir=cache,
        made=scope.status.refs,
    )
    scope.world = world


def look(scope: Scope, handlers: Sequence[Handler], pool: Executor) -> None:
    """Fill `scope.observed` with one entry for everything wanted now or before, and everything else in sight."""
    world = scope.world
    if world is None:
        return
    everything = {**world.previous, **world.desired}
    for layer in layers(handlers):
        jobs = [(h, _of(h, everything.values())) for h in layer]
        found = list(pool.map(_look_one, itertools.repeat(world), layer, [wanted for _, wanted in jobs]))
        for (handler, wanted), (seen, error) in zip(jobs, found, strict=True):
            if error is not None:
                scope.blind = scope.blind or error
                seen = [unknown(r, error.reason, error.message) for r in wanted]
            scope.observed.update({o.key: o for o in seen})
            _fill_gaps(scope, handler, wanted)
    _mark_first(scope)


def _mark_first(scope: Scope) -> None:
    """Nothing is built on what a document adopts before it carries our mark."""
    for resource in scope.desired.resources.values() if scope.desired is not None else ():
        seen = scope.observed.get(resource.key)
        waits = resource.adopt is not None or resource.takes_over
        if waits and not resource.reference and seen is not None and seen.present and not seen.ours:
            said = f"{seen.name} is not marked as ours yet"
            health = Health.PROGRESSING if seen.health is Health.HEALTHY else seen.health
            scope.observed[resource.key] = dataclasses.replace(
                seen, ready=False, health=health, reason=seen.reason or "NotMarked", message=seen.message or said
            )


def look_again(scope: Scope, handler: Handler, keys: Iterable[str]) -> dict[str, Observed]:
    """A second, narrow look just before something irreversible is sent. Raises what the look raises."""
    world = scope.world
    assert world is not None
    wanted = [r for r in (scope.resource(key) for key in keys) if r is not None]
    return {o.key: o for o in handler.look(world, wanted)}


def layers(handlers: Sequence[Handler]) -> list[list[Handler]]:
    """Handlers in rounds: each after all whose types it must have seen."""
    left, rounds, seen = list(handlers), list[list[Handler]](), set[str]()
    all_types = {t for h in handlers for t in h.types}
    while left:
        now = [h for h in left if set(h.looks_after) & all_types <= seen | set(h.types)]
        if not now:
            raise ValueError(f"handlers wait for each other: {[h.types for h in left]}")
        rounds.append(now)
        seen.update(t for h in now for t in h.types)
        left = [h for h in left if h not in now]
    return rounds


def handler_for(key: str, handlers: Sequence[Handler]) -> Handler:
    type_ = type_of(key)
    return next(h for h in handlers if type_ in h.types)


def _of(handler: Handler, resources: Iterable[Resource]) -> list[Resource]:
    return [r for r in resources if r.type in handler.types]


def _look_one(
    world: World, handler: Handler, wanted: list[Resource]
) -> tuple[list[Observed], InstantStartError | None]:
    try:
        return list(handler.look(world, wanted)), None
    except InstantStartError as error:
        return [], error
    except Exception as error:  # a mistake of ours in one family must not blind the others
        log.exception("looking at %s of %s broke", "/".join(handler.types), world.cluster)
        return [], RetryLater(f"looking broke: {error!r}", reason="InternalError")


def note_absence(scope: Scope, now: float) -> None:
    """Since when things are missing that the journal says we made. What was just made may not be shown yet."""
    missing = scope.memory.missing_since
    made = set(scope.status.refs)
    if scope.desired is not None and doubt(scope) is not None:
        made |= scope.desired.resources.keys()  # the lines that were lost may tell of it
    for key in missing.keys() - made:
        del missing[key]
    for key in made:
        seen = scope.observed.get(key)
        if seen is not None and seen.presence is Presence.ABSENT:
            missing.setdefault(key, now)
        elif seen is not None and seen.present:
            missing.pop(key, None)


def _fill_gaps(scope: Scope, handler: Handler, wanted: list[Resource]) -> None:
    """A handler that forgot to answer must not be read as "absent"."""
    for resource in wanted:
        if resource.key not in scope.observed:
            text = f"{'/'.join(handler.types)} did not answer for it"
            scope.observed[resource.key] = unknown(resource, "NotLooked", text)
