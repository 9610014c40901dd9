"""What readers of the API get, kept fresh: the newest tick's word of every cluster, and what is followed live of those
that somebody asks about. Reading costs no call to any cloud while it is fresh, and never waits for a tick.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from reconciler.config_repo.errors import ObjectMissing, UnknownCluster, UnknownRevision
from reconciler.engine.sight import Sight
from reconciler.engine.tick import Engine
from reconciler.live.aws.sessions import AwsSession
from reconciler.reads import clusters, happenings, logs, nodes, statuses, wishes
from reconciler.reads.clusters import AuthorView, ClusterView, SummaryView
from reconciler.reads.following import Follow
from reconciler.reads.happenings import EventView
from reconciler.reads.journals import lines_of
from reconciler.reads.kept import Kept
from reconciler.reads.log_text import Line
from reconciler.reads.logs import Tail
from reconciler.reads.nodes import GroupView, NodeView
from reconciler.reads.offerings import Offerings, OfferingsView
from reconciler.reads.parts import PartView, seen
from reconciler.reads.pods import Texts
from reconciler.reads.statuses import StatusView, WaitingOrderView
from reconciler.reads.timelines import MOST_COMMITS, EntryView, entries, trailers
from reconciler.reads.trimmed import PodFacts
from reconciler.reads.wishes import DesiredView
from reconciler.reads.worlds import world_of
from reconciler.resources.handler import World
from schemas.errors import NotFound, Unavailable
from schemas.journal import Condition

MOST_FOLLOWED = 30  # clusters that are followed at once; those that nobody asked about for longest are let go
FIRST_SIGHT = 3.0  # real seconds that the first reader of a cluster waits for it
MOST_PLACES = 300  # accounts and Regions whose offerings were asked for; each keeps clients
MOMENT = 0.5  # real seconds for which what changes all the time may be shown as it was
LOST_SIGHT = 3.0  # poll intervals without a look after which nothing is known any more


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A view with its JSON, so that it is written once for all its readers."""

    view: ClusterView
    json: bytes


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Nodes, and the same as JSON by the key that orders them."""

    views: tuple[NodeView, ...]
    texts: tuple[tuple[str, bytes], ...]
    parts: tuple[PartView, ...]


class Reads:
    """Thread-safe. Raises NotFound for clusters that nobody knows, and what a read of git raises."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._repo = engine.repo
        self._lock = threading.Lock()
        self._follows: dict[str, Follow] = {}
        self._closed = False
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="reads")
        self._born = engine.clock.iso()
        self._shown: Kept[Shown] = Kept(3600.0, least=MOMENT, most=5000)
        self._rows: Kept[Rows] = Kept(3600.0, least=MOMENT, most=100)
        self._events: Kept[tuple[list[EventView], tuple[PartView, ...]]] = Kept(
            2.0, most=50, stale=10.0, pool=self._pool
        )
        self._offerings = Offerings(engine.clock)
        self._places: set[tuple[str, str]] = set()
        self._own: Kept[tuple[str, str]] = Kept(600.0, most=50)
        self._timelines: Kept[list[EntryView]] = Kept(3600.0, most=20)
        self._pods: Kept[tuple[Sequence[tuple[str, PodFacts]], PartView]] = Kept(3600.0, least=MOMENT, most=100)
        self._desired: Kept[DesiredView] = Kept(3600.0, most=5000)
        # Git is asked about these in a process of its own, which nobody should wait for.
        self._orders: Kept[Mapping[str, tuple[WaitingOrderView, ...]]] = Kept(1.0, stale=5.0, pool=self._pool)
        self._journals: Kept[frozenset[str]] = Kept(1.0, stale=5.0, pool=self._pool)
        self._heads: Kept[str | None] = Kept(3600.0, most=5000)

    @property
    def engine(self) -> Engine:
        return self._engine

    def close(self) -> None:
        with self._lock:
            self._closed = True
            follows = list(self._follows.values())
            self._follows.clear()
        for follow in follows:
            follow.close()
        self._offerings.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def forget(self, name: str) -> None:
        """Nobody follows this cluster any more, until somebody asks about it."""
        with self._lock:
            follow = self._follows.pop(name, None)
        if follow is not None:
            follow.close()

    # Clusters --------------------------------------------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Clusters that have a folder or a journal, sorted."""
        head = self._repo.head()
        folders: Mapping[str, str] = self._repo.clusters(head) if head is not None else {}
        journals = self._journals.get(None, lambda: frozenset(self._repo.journal_clusters()))
        return tuple(sorted({*folders, *journals, *self._engine.sights}))

    def fleet(self, *, gone: bool = False) -> tuple[SummaryView, ...]:
        """One line each, by name; those that are Gone only if asked for. Nothing is waited for."""
        found = (self.cluster(name, wait=0.0).view for name in self.names())
        return tuple(clusters.summary(view) for view in found if gone or view.condition != Condition.GONE.value)

    def cluster(self, name: str, *, wait: float = FIRST_SIGHT) -> Shown:
        """`wait`: real seconds for what is not followed yet."""
        sight = self._sight(name)
        follow = self._follow(name, sight, wait)
        wanted = self._wanted(name, sight)
        orders = self._all_orders().get(name, ())
        aws = self._aws_part(sight)
        parts = (aws, *_live_parts(follow))
        now = None if sight is not None else self._repo.journal_tip(name)
        problem = sight.problem if sight is not None and sight.problem is not None else self._engine.problem
        return self._shown.get(
            name,
            lambda: self._show(name, sight, follow, wanted, orders, parts, problem),
            hard=(sight, wanted, orders, aws, now, follow is None, problem),
            soft=(follow.version if follow is not None else None, parts),
        )

    def desired(self, name: str) -> DesiredView:
        """What the documents at the branch's head ask for; empty where there is no folder."""
        head = self._repo.head()
        tree = self._repo.clusters(head).get(name) if head is not None else None
        if tree is None:
            return DesiredView()
        library = self._engine.library
        return self._desired.get((name, tree), lambda: wishes.of_loaded(library.current(tree, name).loaded))

    # Nodes -----------------------------------------------------------------------------------------------------------

    def nodes(self, name: str) -> Rows:
        """One row per node, by group and id."""
        follow = self.follow(name)
        parts = _live_parts(follow)
        return self._rows.get(name, lambda: _rows(follow), hard=id(follow), soft=(follow.version, parts))

    def pods(self, name: str) -> tuple[Sequence[tuple[str, PodFacts]], Texts, PartView]:
        """All pods in their order, each with the key of it; the texts to show them with; how sure that is."""
        follow = self.follow(name)
        ordered = self._pods.get(
            name, lambda: _ordered(follow), hard=id(follow), soft=(follow.pods.version, follow.pods.part())
        )
        return ordered[0], follow.texts, ordered[1]

    def groups(self, name: str) -> tuple[tuple[GroupView, ...], tuple[PartView, ...]]:
        sight, follow = self._sight(name), self.follow(name)
        found = nodes.groups(self.desired(name), sight, follow.nodes.items(), follow.pods.items())
        return found, (self._aws_part(sight), *_live_parts(follow))

    # What happened ---------------------------------------------------------------------------------------------------

    def timeline(self, name: str) -> list[EntryView]:
        """Everything that git and the journal tell, newest first. A journal that is broken is told as far as it can
        be read; its status says that it is."""
        self._sight(name)
        head = self._repo.head()
        tip = self._repo.journal_tip(name)
        return self._timelines.get(name, lambda: self._tell(name, head), hard=(head, tip))

    def _tell(self, name: str, head: str | None) -> list[EntryView]:
        notes = self._repo.notes(name).entries
        lines = [(revision, line) for revision, note in notes.items() for line in lines_of(note)]
        commits = self._repo.log(head, cluster=name, limit=MOST_COMMITS) if head is not None else []
        return entries(commits, lines)

    # What the readers of other nouns need ----------------------------------------------------------------------------

    def sight(self, name: str) -> tuple[Sight | None, PartView]:
        """The newest tick's word, None before the first one, and how sure it is."""
        found = self._sight(name)
        return found, self._aws_part(found)

    def world(self, name: str) -> World:
        """Raises NotFound and Unavailable."""
        self._sight(name)
        return world_of(self._engine, name)

    def events(self, name: str) -> tuple[list[EventView], tuple[PartView, ...]]:
        """Of Kubernetes and of HyperPod, in no order."""
        world = self.world(name)
        return self._events.get((name, None), lambda: happenings.events(world))

    def history(self, name: str, instance: str) -> tuple[list[EventView], tuple[PartView, ...]]:
        """Of HyperPod, about one instance."""
        world = self.world(name)
        return self._events.get((name, instance), lambda: happenings.events(world, node=instance))

    def aws(self, name: str, region: str) -> AwsSession:
        """The account of a cluster in another Region, where a bucket of its Storages may be."""
        return self._engine.accounts.session(self.world(name).account, region)

    def offerings(
        self, *, cluster: str | None = None, account: str | None = None, region: str | None = None
    ) -> OfferingsView:
        """Of a cluster's account and Region, or of those named, or of those of the credentials."""
        if cluster is not None:
            world = self.world(cluster)
            return self._offerings.of(world.aws)
        if account is None or region is None:
            own, where = self._own.get(region, lambda: self._engine.accounts.own(region))
            account, region = account or own, where
        self._places.add((account, region))
        if len(self._places) > MOST_PLACES:
            self._places.discard((account, region))
            raise Unavailable("too many accounts and Regions were asked for", reason="TooManyPlaces")
        return self._offerings.of(self._engine.accounts.session(account, region))

    def last_lines(self, name: str, pod: PodFacts, most: int) -> tuple[Line, ...]:
        """The end of the logs of a pod's containers; of one that waits to begin again, of its life before."""
        kube = self.world(name).kube()
        found: list[Line] = []
        for container in pod.containers:
            again = container.state == "waiting"
            if again and not container.restarts:
                continue
            page = logs.page(
                kube,
                pod.namespace,
                pod.name,
                container=container.name,
                since=None,
                tail=most,
                limit=most,
                search="",
                previous=again,
            )
            found += [Line(line.at, line.text) for line in page.items]
        return tuple(found)

    def tail(self, name: str, namespace: str, pod: str, **how: Any) -> Tail:
        """A log to follow. The control plane may be asked anew for each connection."""
        self._sight(name)
        return Tail(lambda: world_of(self._engine, name).kube(), namespace, pod, **how)

    def follow(self, name: str) -> Follow:
        """The cluster, followed live; the first reader waits a moment for it."""
        found = self._follow(name, self._sight(name), FIRST_SIGHT, must=True)
        assert found is not None
        return found

    # Helpers ---------------------------------------------------------------------------------------------------------

    def _sight(self, name: str) -> Sight | None:
        found = self._engine.sights.get(name)
        if found is None and name not in self.names():
            raise NotFound(f"there is no cluster {name[:60]!r} here", reason="UnknownCluster")
        return found

    def _show(
        self,
        name: str,
        sight: Sight | None,
        follow: Follow | None,
        wanted: str | None,
        orders: tuple[WaitingOrderView, ...],
        parts: tuple[PartView, ...],
        problem: str | None,
    ) -> Shown:
        desired = self.desired(name)
        status = self._status(name, sight, wanted, orders)
        live_nodes = follow.nodes.items() if follow is not None else None
        live_pods = follow.pods.items() if follow is not None else None
        head = self._repo.head()
        view = clusters.of(
            status=status,
            desired=desired,
            sight=sight,
            policy=self._engine.library.policy(head).policy if head is not None else None,
            revision=self._author(status.revision),
            head=self._author(wanted),
            instances=nodes.instances(desired.instances, sight, live_nodes),
            gpus=nodes.gpus(desired.gpus, live_nodes, live_pods),
            parts=parts,
            problem=problem,
        )
        return Shown(view=view, json=view.model_dump_json().encode())

    def _status(
        self, name: str, sight: Sight | None, wanted: str | None, orders: tuple[WaitingOrderView, ...]
    ) -> StatusView:
        if sight is None:  # the journal itself tells
            return statuses.status(self._repo, name).model_copy(update={"head": wanted, "orders": orders})
        return statuses.of_status(sight.status, head=wanted, orders=orders)

    def _wanted(self, name: str, sight: Sight | None) -> str | None:
        """The revision that main wants."""
        head = self._repo.head()
        if head is None:
            return None
        if sight is not None and sight.head == head:
            return sight.revision
        return self._heads.get((name, head), lambda: self._revision(head, name))

    def _revision(self, head: str, name: str) -> str | None:
        try:
            return self._repo.revision_of(head, name)
        except UnknownCluster:
            return None

    def _author(self, commit: str | None) -> AuthorView | None:
        if commit is None:
            return None
        try:
            info = self._repo.commit_info(commit)
        except (ObjectMissing, UnknownRevision):
            return AuthorView(commit=commit, name="", email="", at="", subject="(this commit is no longer here)")
        words = trailers(info.body)
        return AuthorView(
            commit=commit,
            name=info.author_name,
            email=info.author_email,
            at=info.at,
            subject=info.subject,
            change=next(iter(words.get("change-id", ())), None),
            proposed_by=next(iter(words.get("proposed-by", ())), None),
            approved_by=tuple(words.get("approved-by", ())),
        )

    def _all_orders(self) -> Mapping[str, tuple[WaitingOrderView, ...]]:
        return self._orders.get(None, lambda: statuses.orders(self._repo))

    def _aws_part(self, sight: Sight | None) -> PartView:
        """What the tick sees in AWS and Kubernetes."""
        clock = self._engine.clock
        if sight is None:
            text = "no tick has looked at it yet"
            return PartView(name="look", unknown_since=self._born, reason="NotLooked", message=text)
        if sight.unseen_since is not None:
            reason, message = sight.blind or ("PartlyUnseen", "not everything could be seen")
            return PartView(
                name="look",
                observed_at=sight.certain,
                unknown_since=sight.unseen_since,
                reason=reason,
                message=message,
            )
        if sight.problem is not None and sight.certain is None:
            return PartView(name="look", unknown_since=sight.at, reason="NotLooked", message=sight.problem)
        age = (clock.now() - datetime.fromisoformat(sight.certain or sight.at)).total_seconds()
        # A look takes real time, also where the clock is a faster one.
        if age > LOST_SIGHT * max(self._engine.poll, 60.0 * clock.rate):
            text = "the engine has not looked at it for a while"
            return PartView(
                name="look",
                observed_at=sight.certain,
                unknown_since=sight.certain or sight.at,
                reason="NotLookedLately",
                message=text,
            )
        return seen("look", sight.certain or sight.at)

    def _follow(self, name: str, sight: Sight | None, wait: float, *, must: bool = False) -> Follow | None:
        """None: there is no control plane to follow, as the newest tick saw."""
        with self._lock:
            follow = self._follows.get(name)
            if follow is not None and follow.over:
                del self._follows[name]
                follow = None
            if follow is None:
                if not must and not _has_control_plane(name, sight):
                    return None
                if not must and wait == 0.0 and len(self._follows) >= MOST_FOLLOWED:
                    return None
                follow = self._begin(name)
        follow.asked()
        if wait > 0:
            follow.wait(wait)
        return follow

    def _begin(self, name: str) -> Follow:
        if self._closed:
            raise NotFound("the service is stopping", reason="Stopping")
        while len(self._follows) >= MOST_FOLLOWED:
            longest = max(self._follows, key=lambda one: self._follows[one].idle_for)
            self._follows.pop(longest).close(wait=False)
        made = Follow(name, lambda: world_of(self._engine, name), self._engine.clock)
        self._follows[name] = made
        return made


def _has_control_plane(name: str, sight: Sight | None) -> bool:
    found = sight.observed.get(f"eks.Cluster/{name}") if sight is not None else None
    return found is not None and found.present and bool(found.attrs.get("endpoint"))


def _live_parts(follow: Follow | None) -> tuple[PartView, ...]:
    return () if follow is None else (follow.machines.part(), follow.nodes.part(), follow.pods.part())


def _rows(follow: Follow) -> Rows:
    machines, live_nodes, pods = follow.machines.items(), follow.nodes.items(), follow.pods.items()
    views = nodes.joined(machines, live_nodes, pods)
    texts = tuple((f"{view.group}\0{view.id}", view.model_dump_json().encode()) for view in views)
    return Rows(views=views, texts=texts, parts=(machines[1], live_nodes[1], pods[1]))


def _ordered(follow: Follow) -> tuple[Sequence[tuple[str, PodFacts]], PartView]:
    pods, part = follow.pods.items()
    follow.texts.keep(pods)
    return sorted(((f"{pod.namespace}/{pod.name}/{pod.uid}", pod) for pod in pods), key=itemgetter(0)), part
