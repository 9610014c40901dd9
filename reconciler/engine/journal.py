"""A cluster's journal as this repository holds it: folded, and compared with what git knows better."""

from __future__ import annotations

from reconciler.config_repo.records import NotesView
from reconciler.config_repo.repo import ConfigRepo
from reconciler.journal import fold
from reconciler.journal.fold import Fold


def read(repo: ConfigRepo, cluster: str, notes: NotesView) -> Fold:
    """The fold of these notes; broken where they cannot be this cluster's."""
    texts = (line for note in notes.entries.values() for line in note.decode("ascii", "replace").splitlines())
    found = fold.read(cluster, texts)
    _check_input(repo, cluster, found)
    return found


def _check_input(repo: ConfigRepo, cluster: str, found: Fold) -> None:
    """A journal of another cluster under this one's name may be whole in itself."""
    rollout = found.rollout
    if rollout is None or not repo.has_commit(rollout.rev):
        return
    told, there = rollout.input, repo.input_of(rollout.rev, cluster)
    if told != there:
        found.breaks(
            f"seq {rollout.seq} says that clusters/{cluster} was {told or 'gone'} at {rollout.rev[:12]}, "
            f"git says {there or 'gone'}"
        )
