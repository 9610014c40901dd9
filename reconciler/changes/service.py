"""The door to changes: what every face calls. Each method is one step; what it raises, did nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from reconciler.changes import combining, judging, merging, proposing, reverting, reviewing, views
from reconciler.changes.foresight import Foresight, Foresights
from reconciler.changes.judging import Verdict
from reconciler.changes.store import State, Store
from reconciler.changes.views import ChangeSummary, ChangeView
from reconciler.config_repo.repo import ConfigRepo
from reconciler.engine.approvals import Approvals, of_change
from reconciler.engine.foresight import gated
from reconciler.engine.tick import Engine
from reconciler.journal.changes import Change
from reconciler.plan.gates import Limits
from reconciler.plan.limits import limits_of
from schemas.changes import ChangeUpdate, NewChange, NewRevert, NewReview
from schemas.errors import StopUntilChange
from schemas.principals import Principal

_KEPT = 5000  # changes of which the files stay in memory


class Changes:
    """Thread-safe; several processes may serve one repository."""

    def __init__(self, engine: Engine) -> None:
        self.repo: ConfigRepo = engine.repo
        self.store = Store(engine.repo, engine.signing, engine.clock.iso)
        self._engine = engine
        self._foresights = Foresights(engine.repo, engine)
        self._files: dict[tuple[str, str], dict[str, tuple[str | None, str | None]]] = {}

    # Reading ---------------------------------------------------------------------------------------------------------

    def list(self) -> Sequence[State]:
        """Oldest first."""
        return self.store.all()

    def summaries(self, states: Sequence[State]) -> Sequence[ChangeSummary]:
        """What stands in a list of them."""
        pairs = [(state.change.base, state.change.head) for state in states]
        missing = [pair for pair in pairs if pair not in self._files and pair[0] != pair[1]]
        if len(missing) > 1:
            for pair, files in self.repo.changes.all_changed_files(missing).items():
                self._keep(pair, files)
        return [self.summary(state) for state in states]

    def state(self, change: str) -> State:
        """Raises NotFound."""
        return self.store.one(change)

    def summary(self, state: State) -> ChangeSummary:
        return views.summary(state, self.files(state.change))

    def view(self, change: str) -> ChangeView:
        """With its checks while it is open: the plan is made for that, unless it was just made."""
        state = self.store.one(change)
        seen, verdict, stopped = None, None, ""
        if state.name == "open":
            try:
                seen, verdict = self.judged(state)
            except StopUntilChange as error:  # it can be read all the same
                stopped = f"{error.message}; {error.way_out}" if error.way_out else error.message
        reverts = state.change.opened.reverts
        lost = reverting.losses(self.repo, self._engine.library, reverts) if reverts is not None else []
        branch = self.repo.changes.branch(change)
        files = self.files(state.change)
        return views.whole(state, files, seen=seen, verdict=verdict, stopped=stopped, losses=lost, branch=branch)

    def files(self, change: Change) -> dict[str, tuple[str | None, str | None]]:
        """Path → blob before and after."""
        pair = (change.base, change.head)
        found = self._files.get(pair)
        return found if found is not None else self._keep(pair, combining.proposed(self.repo, *pair))

    def foresee(self, change: str, *, fresh: bool = False) -> tuple[Foresight, Verdict]:
        """What it would do, and what is missing. Raises Conflict if it has ended."""
        return self.judged(proposing.open_state(self.store, change, None), fresh=fresh)

    def judged(self, state: State, *, fresh: bool = False) -> tuple[Foresight, Verdict]:
        main = self.store.main()
        seen = self._look(state.change, main, fresh=fresh)
        return seen, judging.judge(state.change, seen, self.limits(main), self._engine.clock.now())

    def limits(self, main: str) -> Limits:
        """The policy in force at a commit. One that cannot be read stops everything."""
        loaded = self._engine.library.policy(main)
        if loaded.problems:
            text = f"the policy cannot be read: {loaded.problems[0]}"
            raise StopUntilChange(text, reason="PolicyInvalid", way_out="mend clusters/policy.yaml with git")
        return limits_of(loaded.policy)

    # Writing ---------------------------------------------------------------------------------------------------------

    def open(self, who: Principal, asked: NewChange, *, key: str | None = None) -> ChangeView:
        """With `direct`: opened and merged at once, if the policy lets these files be committed without a review."""

        def check(paths: Iterable[str]) -> None:
            limits = self.limits(self.store.main())
            if asked.direct:
                merging.may_commit_directly(who, paths, limits)

        change = proposing.open_change(self.store, self._engine.clock, who, asked, key=key, check=check)
        if asked.direct:
            state = self.store.one(change)
            if state.name == "open":
                check(self.files(state.change))
                self._merge(who, change, head=state.change.head)  # and nothing that others add meanwhile
        return self.view(change)

    def update(self, who: Principal, change: str, asked: ChangeUpdate, *, head: str | None) -> ChangeView:
        proposing.update(self.store, who, change, asked, head=head)
        return self.view(change)

    def rebase(self, who: Principal, change: str, *, head: str | None) -> ChangeView:
        proposing.rebase(self.store, who, change, head=head)
        return self.view(change)

    def comment(self, who: Principal, change: str, text: str) -> ChangeView:
        reviewing.comment(self.store, who, change, text)
        return self.view(change)

    def review(self, who: Principal, change: str, asked: NewReview, *, head: str | None = None) -> ChangeView:
        reviewing.review(
            self.store,
            who,
            change,
            asked,
            look=lambda found: self._look(found, self.store.main(), fresh=True),
            limits=lambda: self.limits(self.store.main()),
            now=self._engine.clock.now,
            head=head,
        )
        return self.view(change)

    def merge(self, who: Principal, change: str, *, head: str | None) -> ChangeView:
        self._merge(who, change, head=head)
        return self.view(change)

    def close(self, who: Principal, change: str, text: str, *, head: str | None) -> ChangeView:
        reviewing.close(self.store, who, change, text, head=head)
        return self.view(change)

    def revert(self, who: Principal, asked: NewRevert, *, key: str | None = None) -> ChangeView:
        """A new change that takes back a merged one, or a commit."""
        change = proposing.opened(
            self.store,
            self._engine.clock,
            who,
            lambda: reverting.proposal(self.store, asked),
            key=key,
            body={"revert": asked.model_dump(mode="json", exclude_unset=True)},
        )
        return self.view(change)

    def _keep(
        self, pair: tuple[str, str], files: dict[str, tuple[str | None, str | None]]
    ) -> dict[str, tuple[str | None, str | None]]:
        """What two commits differ in never changes."""
        self._files[pair] = files
        while len(self._files) > _KEPT:
            self._files.pop(next(iter(self._files)), None)
        return files

    # Helpers ---------------------------------------------------------------------------------------------------------

    def _merge(self, who: Principal, change: str, *, head: str | None) -> str:
        return merging.merge(
            self.store,
            who,
            change,
            look=lambda found, main: self._look(found, main, fresh=True),
            limits=self.limits,
            now=self._engine.clock.now,
            head=head,
        )

    def _look(self, change: Change, main: str, *, fresh: bool) -> Foresight:
        """With what its own reviews let pass by now, however long ago the look was: what was approved in another
        change was approved there."""
        seen = self._foresights.of(change, main, fresh=fresh)
        own = Approvals(approvals=of_change(change))
        return dataclasses.replace(seen, scopes=gated(self._engine, seen.scopes.values(), own))
