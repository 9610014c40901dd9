"""Moving refs where one of them may be checked out: the person's checkout comes along, never over their changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from reconciler.config_repo.errors import RefMoved, WorkTreeInTheWay
from reconciler.config_repo.objects import EMPTY_TREE
from reconciler.config_repo.process import Git
from reconciler.config_repo.records import RefUpdate

Publish: TypeAlias = Callable[[Sequence[RefUpdate]], Mapping[str, str | None]]


class Moves:
    """`commit_at` says where a ref stands."""

    def __init__(self, git: Git, commit_at: Callable[[str], str | None]) -> None:
        self._git = git
        self._commit_at = commit_at

    def move(self, updates: Sequence[RefUpdate], publish: Publish) -> None:
        """`publish` answers per ref, None for moved. Raises RefMoved for the first that did not move."""
        here = self._checked_out() if self._git.work_tree is not None else None
        with_tree = next((u for u in updates if u.ref == here and u.new is not None), None)
        if with_tree is not None:
            self._move_work_tree(with_tree.old, with_tree.new)
        rejected = next(((ref, why) for ref, why in publish(updates).items() if why is not None), None)
        if rejected is None:
            return
        if with_tree is not None:
            self._move_work_tree(with_tree.new, with_tree.old)
        ref, why = rejected
        raise RefMoved(f"{ref} has moved: {why}", ref=ref, tip=self._commit_at(ref))

    def _checked_out(self) -> str:
        return self._git.run("symbolic-ref", "--quiet", "HEAD").out.decode().strip()

    def _move_work_tree(self, old: str | None, new: str | None) -> None:
        """Bring the person's checkout along, else it would show our commit undone. Never over their changes."""
        done = self._git.run("read-tree", "-m", "-u", old or EMPTY_TREE, new or EMPTY_TREE)
        if not done.ok:
            raise WorkTreeInTheWay(f"the branch is checked out here and has changes in the way: {done.err}")
