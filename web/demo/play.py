"""The scenes: make the cluster, tick again, let an agent propose a scale and a person merge it, ask for the impossible,
take it back."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconciler.cli.sample import read_sample
from reconciler.cli.work_tree import new_repository
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.settings import Settings
from reconciler.reads import statuses
from reconciler.reads.statuses import StatusView
from schemas.errors import InvalidInput
from web.demo import documents, evidence, people
from web.demo.documents import CLUSTER
from web.demo.offline import keep_chart
from web.demo.world import World, prepare

if TYPE_CHECKING:
    from reconciler.engine.tick import Engine
    from web.service import Service

AUTHOR = ("Platform engineer", people.PERSON)
OTHER_TYPE = "ml.g5.12xlarge"
MIRROR = "INSTANTSTART_CHART_MIRROR"
_LONGEST = 4 * 3600.0  # simulated seconds for one scene
_LEAST = 60.0  # real seconds for one scene, however fast the clock
_STUCK = 600.0, 5.0  # Stalled with nothing under way for so long, simulated and real: the scene is over


@dataclass(kw_only=True)
class Outcome:
    """What happened, for people and for programs. `failed`: what did not go as it should."""

    conditions: dict[str, str] = field(default_factory=dict[str, str])
    seconds: dict[str, float] = field(default_factory=dict[str, float])  # simulated, per scene
    real_seconds: float = 0.0
    stages: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    effects: dict[str, int] = field(default_factory=dict[str, int])
    duplicates: list[Any] = field(default_factory=list[Any])
    unjoined: list[str] = field(default_factory=list[str])
    journal_lines: int = 0
    requests: int = 0
    mutations: int = 0
    idle_mutations: int = 0
    crashes: int = 0
    refusal: str = ""
    changes: dict[str, str] = field(default_factory=dict[str, str])  # state of each by its id
    failed: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The demo's house: sandbox, repository, and the service over it, all running."""

    folder: Path
    world: World
    repo: ConfigRepo
    engine: Engine
    service: Service
    files: dict[str, bytes]
    began: int  # the newest entry of the request log before the engine started
    environment: dict[str, str]  # what another process needs beside the world's

    @property
    def repository(self) -> Path:
        return self.folder / "config"


Tell = Callable[[str], None]
Watch = Callable[[], None]


@contextmanager
def house(world: World, *, keep: bool, port: int) -> Generator[Stage]:
    """Repository and service in a folder of their own, which goes away at the end unless it is to be kept. `port`: the
    API's; one that is taken is left to who has it."""
    from reconciler.engine.start import open_engine
    from reconciler.sandbox.chart import make_chart_repository

    with _folder(keep) as name:
        folder = Path(name)
        url, *chart = make_chart_repository(folder / "chart")
        mirror = f"{documents.CHART}={url}"
        files = documents.seeded(read_sample(), account=world.account, region=world.region, chart=(chart[0], chart[1]))
        new_repository(folder / "config", files, branch="main", author=AUTHOR)
        # The documents name a chart as everybody's do; only where it is fetched from is ours to say.
        os.environ[MIRROR] = mirror
        settings = Settings(
            repository=str(folder / "config"),
            state_dir=folder / "state",
            rate=world.rate,
            origin=world.origin,
            writer="demo",
        )
        keep_chart(settings.state_dir, folder / "chart" / chart[0])
        began = prepare(world)
        engine = open_engine(settings)
        service = _service(engine, settings, port)
        repo = ConfigRepo.open(settings.repository, state_dir=folder / "state", writer="demo-person")
        service.start()
        try:
            yield Stage(
                folder=folder,
                world=world,
                repo=repo,
                engine=engine,
                service=service,
                files=files,
                began=began,
                environment={MIRROR: mirror},
            )
        finally:
            service.stop()
            repo.close()
            engine.close()
            engine.pool.shutdown(wait=True, cancel_futures=True)


def _service(engine: Engine, settings: Settings, port: int) -> Service:
    from web.service import Service
    from web.settings import WebSettings

    try:
        return Service(engine, settings, WebSettings(port=port))
    except InvalidInput:
        return Service(engine, settings, WebSettings(port=0))


def play(stage: Stage, tell: Tell, watch: Watch) -> Outcome:
    """All scenes. `tell` gets what a person should know, `watch` is called again and again while something runs."""
    outcome = Outcome()
    began = time.monotonic()
    if _scene(stage, outcome, watch, "create"):
        outcome.idle_mutations = _idle(stage)
        tell(f"The cluster is Ready. A second look sent {outcome.idle_mutations or 'nothing'}.")
        if outcome.idle_mutations:
            outcome.failed.append(f"the tick after Ready sent {outcome.idle_mutations} mutations")
        _scale(stage, outcome, tell, watch)
        _impossible(stage, outcome, tell, watch)
    outcome.real_seconds = round(time.monotonic() - began, 1)
    _collect(stage, outcome)
    return outcome


def _scale(stage: Stage, outcome: Outcome, tell: Tell, watch: Watch) -> None:
    """An agent proposes, a person decides, the engine applies; all over the API."""
    agent, person = people.agent(stage.service), people.person(stage.service)
    now = documents.count_of(stage.files)
    patch = [{"op": "replace", "path": "/spec/count", "value": now + 1}]
    edit = {"edit": "patch", "cluster": CLUSTER, "kind": "InstanceGroup", "name": documents.GROUP, "patch": patch}
    title = f"Scale {documents.GROUP} to {now + 1}"
    asked = {"title": title, "why": "One node more for the evaluation.", "edits": [edit]}
    change = agent.post("/changes", asked)
    where = f"/changes/{change['id']}"
    tell(f"An agent proposes: {title}. {stage.service.base}{where}")
    plan = agent.get(f"{where}/plan")
    for cluster in plan["clusters"]:
        for action in cluster["plan"]["actions"]:
            tell(f"  its plan: {action['verb']} {action['key']} ({action['cost']})")
    approval = {"verdict": "approve", "plan": plan["digest"], "text": "It fits the quota."}
    try:
        agent.post(f"{where}/reviews", approval)
        outcome.failed.append("an agent could approve its own change")
    except people.Refused as refused:
        tell(f"  the agent itself may not approve it: {refused}")
    person.post(f"{where}/reviews", approval)
    merged = person.post(f"{where}/merge", head=change["head"])
    outcome.changes[merged["id"]] = merged["state"]
    tell(f"  {people.PERSON} approves and merges it: {str(merged['merged'])[:12]}")
    path, data = next(iter(documents.with_count(stage.files, now + 1).items()))
    stage.files[path] = data
    _scene(stage, outcome, watch, "scale")


def _impossible(stage: Stage, outcome: Outcome, tell: Tell, watch: Watch) -> None:
    before = dict(stage.files)
    change = documents.with_type(stage.files, OTHER_TYPE)
    tell(f"A commit that cannot be: {documents.GROUP} as {OTHER_TYPE}.")
    _commit(stage, change, f"Make {documents.GROUP} {OTHER_TYPE}")
    start = stage.engine.clock.monotonic()
    view = _until(stage, watch, lambda seen: seen.condition == "Stalled" and seen.head == seen.revision)
    outcome.conditions["refused"] = view.condition
    outcome.seconds["refused"] = round(stage.engine.clock.monotonic() - start, 1)
    outcome.refusal = f"{view.reason}: {view.msg}"
    if view.condition != "Stalled" or view.reason != "Immutable":
        outcome.failed.append(f"the impossible commit was not refused as Immutable but is {view.condition}: {view.msg}")
    tell(f"Refused: {view.msg}")
    tell("A third commit takes it back.")
    _commit(stage, {path: before[path] for path in change}, f"Revert: {documents.GROUP} stays what it is")
    _scene(stage, outcome, watch, "revert")


def _scene(stage: Stage, outcome: Outcome, watch: Watch, name: str) -> bool:
    """Wait until what is committed is Ready."""
    start = stage.engine.clock.monotonic()
    view = _until(stage, watch, lambda seen: seen.condition == "Ready" and seen.head == seen.revision)
    outcome.conditions[name] = view.condition
    outcome.seconds[name] = round(stage.engine.clock.monotonic() - start, 1)
    good = view.condition == "Ready" and view.head == view.revision
    if not good:
        outcome.failed.append(f"{name}: {view.condition} ({view.reason}): {view.msg}")
    return good


def _until(stage: Stage, watch: Watch, wanted: Callable[[StatusView], bool]) -> StatusView:
    """The first status that is wanted, or the last one when the time is over or nothing will move any more."""
    end = time.monotonic() + max(_LONGEST / stage.world.rate, _LEAST)
    stuck = max(_STUCK[0] / stage.world.rate, _STUCK[1])
    seq, moved = -1, time.monotonic()
    while True:
        watch()
        view = statuses.status(stage.repo, CLUSTER)
        now = time.monotonic()
        if wanted(view) or now >= end:
            return view
        if view.seq != seq or view.open_ops or view.condition != "Stalled":
            seq, moved = view.seq, now
        if now - moved > stuck:
            return view
        time.sleep(0.05)


def _idle(stage: Stage) -> int:
    """Mutations of a whole tick over a cluster that is Ready."""
    log = stage.world.log()
    last = log[-1]["seq"] if log else 0
    memory = stage.engine.memories.get(CLUSTER)
    if memory is not None:
        memory.wake = 0.0  # else it would not be looked at before the poll interval is over
    stage.engine.tick([CLUSTER])
    return len(evidence.mutations(stage.world.log(last)))


def _commit(stage: Stage, changes: dict[str, bytes], message: str) -> str:
    revision = stage.repo.commit(onto=stage.repo.head(), changes=changes, message=message, author=AUTHOR)
    stage.service.loop.nudge()
    return revision


def _collect(stage: Stage, outcome: Outcome) -> None:
    journal = evidence.lines(stage.repo, CLUSTER)
    log, effects = stage.world.log(stage.began), stage.world.effects()
    outcome.stages = evidence.stage_seconds(journal)
    outcome.effects = effects["byKind"]
    outcome.duplicates = effects["duplicates"]
    outcome.unjoined = evidence.unjoined(log, journal)
    outcome.journal_lines = len(journal)
    outcome.requests, outcome.mutations = len(log), len(evidence.mutations(log))
    outcome.crashes = stage.service.loop.crashes
    if outcome.duplicates:
        outcome.failed.append(f"{len(outcome.duplicates)} effects happened twice")
    if outcome.unjoined:
        named = "; ".join(outcome.unjoined[:5])
        outcome.failed.append(f"{len(outcome.unjoined)} kinds of changes have no intent in the journal: {named}")
    if outcome.crashes:
        outcome.failed.append(f"{outcome.crashes} ticks broke")


@contextmanager
def _folder(keep: bool) -> Generator[str]:
    if keep:
        yield tempfile.mkdtemp(prefix="instantstart-demo-")
        return
    with tempfile.TemporaryDirectory(prefix="instantstart-demo-", ignore_cleanup_errors=True) as name:
        yield name
