"""Journals: the notes of the clusters, pushed together, and what a writer keeps here beside the mirror."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reconciler.config_repo import names
from reconciler.config_repo.notes import Kind, Notes
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import NotesAppend, NotesResult, RefUpdate
from reconciler.config_repo.refs import Refs, advice

_KIND = Kind(prefix=names.JOURNAL, check=names.cluster, title="Journal of")


class Journals(Notes):
    """Each cluster is accepted or rejected alone, and what no ref took stays readable under refs/instantstart/lost."""

    def __init__(self, reader: Reader, refs: Refs, *, writer: str, session: str, clock: Callable[[], float]) -> None:
        super().__init__(_KIND, reader, refs, writer=writer, session=session, clock=clock)

    def append(self, batch: Sequence[NotesAppend]) -> dict[str, NotesResult]:
        """One commit per cluster, one process for all objects, one for all refs, and one push."""
        objects, updates, results = self.draft(batch)
        self._refs.store(objects)
        try:
            verdicts = self._refs.publish(list(updates.values())) if updates else {}
        except BaseException:  # they may have arrived or not: readable here in any case
            for cluster, update in updates.items():
                self.keep_lost(cluster, update.new or "")
            raise
        for cluster, update in updates.items():
            rejected = verdicts[update.ref]
            if rejected is None:
                results[cluster] = NotesResult(accepted=True, tip=update.new)
            else:
                self.keep_lost(cluster, update.new or "")
                told = f"{rejected}; {advice(rejected)}"
                results[cluster] = NotesResult(accepted=False, tip=self._tip(update.ref), rejected_by=told)
        return results

    def known_tip(self, cluster: str) -> str | None:
        """The newest tip that this writer once read whole or wrote, in whatever life of its process."""
        return self._tip(f"{names.KNOWN}{self._writer}/{names.cluster(cluster)}")

    def keep_known(self, tips: Mapping[str, str | None]) -> None:
        before = {cluster: self.known_tip(cluster) for cluster in tips}
        self._refs.keep_here(
            [
                RefUpdate(ref=f"{names.KNOWN}{self._writer}/{cluster}", old=before[cluster], new=tip)
                for cluster, tip in tips.items()
                if before[cluster] != tip
            ]
        )

    def keep_lost(self, cluster: str, commit: str) -> None:
        """What is on no ref of the remote stays readable here: the newest in front, all earlier ones behind it."""
        ref = f"{names.LOST}{self._writer}/{names.cluster(cluster)}"
        earlier = self._tip(ref)
        if earlier is not None and commit in self._reader.commit(earlier).parents:
            return
        if earlier not in (None, commit):
            tree = self._reader.commit(commit).tree
            chain = self._new_commit(tree, [commit, earlier], f"Lost to another writer: {cluster}")
            self._refs.store([chain])
            commit = chain.id
        if earlier != commit:
            self._refs.keep_here([RefUpdate(ref=ref, old=earlier, new=commit)])
