"""Refs of changes: a branch each, notes with what was said about it, and the keys under which they were opened.

Nothing here knows what a line says. What must be true together moves together (`Move`): lines, branches and the
branch that is truth, by one compare-and-swap each, all or none where the remote can do that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.config_repo import names, trees
from reconciler.config_repo.errors import GitFailed
from reconciler.config_repo.moves import Publish
from reconciler.config_repo.notes import US, Kind, Notes
from reconciler.config_repo.objects import EMPTY_TREE, NewObject, new_commit, new_object
from reconciler.config_repo.orders import below, list_refs
from reconciler.config_repo.process import Git
from reconciler.config_repo.reader import Reader
from reconciler.config_repo.records import NotesAppend, NotesView, RefUpdate
from reconciler.config_repo.refs import Refs

_KIND = Kind(prefix=names.REVIEWS, check=names.change, title="Reviews of change")


@dataclass(kw_only=True)
class Move:
    """Objects to store and refs to move, in the order in which they follow from each other."""

    objects: list[NewObject] = field(default_factory=list[NewObject])
    updates: list[RefUpdate] = field(default_factory=list[RefUpdate])


class ChangeRefs:
    def __init__(
        self,
        git: Git,
        reader: Reader,
        refs: Refs,
        *,
        move: Callable[[Sequence[RefUpdate], Publish], None],
        writer: str,
        session: str,
        clock: Callable[[], float],
    ) -> None:
        self._git = git
        self._reader = reader
        self._refs = refs
        self._move = move
        self._clock = clock
        self._notes = Notes(_KIND, reader, refs, writer=writer, session=session, clock=clock)

    # Reading ---------------------------------------------------------------------------------------------------------

    def tips(self, listed: Mapping[str, str] | None = None) -> dict[str, str]:
        """Where the notes of each change stand, by its id, oldest change first. `listed`: as of `ConfigRepo.refs`."""
        refs = list_refs(self._git, names.REVIEWS) if listed is None else listed
        return {name: tip for name, tip in below(names.REVIEWS, refs).items() if names.CHANGE.fullmatch(name)}

    def branches(self) -> dict[str, str]:
        """Where the branch of each change stands, by its id."""
        return below(names.CHANGES, list_refs(self._git, names.CHANGES))

    def branch(self, change: str) -> str | None:
        return self._at(names.CHANGES + names.change(change))

    def tip(self, change: str) -> str | None:
        return self._notes.tip(change)

    def notes(self, change: str) -> NotesView:
        return self._notes.view(change)

    def keyed(self, key: str) -> str | None:
        """What was written under a key (64 hex digits); None: nothing."""
        at = self._at(names.KEYS + names.key(key))
        if at is None:
            return None
        commit = self._reader.commit(at)
        return f"{commit.subject}\n{commit.body}".strip()

    def changed_files(self, old: str, new: str) -> dict[str, tuple[str | None, str | None]]:
        """Path → blob before and after, of everything in which two commits differ; None: not there."""
        commits = self._reader.commits([names.sha(old), names.sha(new)])
        return trees.changed_files(self._reader, commits[old].tree, commits[new].tree)

    def all_changed_files(
        self, pairs: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], dict[str, tuple[str | None, str | None]]]:
        """As `changed_files`, for many pairs of commits by one process, which git does faster for large folders."""
        wanted = list(dict.fromkeys(pairs))
        commits = self._reader.commits({names.sha(sha) for pair in wanted for sha in pair})
        trees_of = {pair: (commits[pair[0]].tree, commits[pair[1]].tree) for pair in wanted}
        asked = "".join(f"{old} {new}\n" for old, new in dict.fromkeys(trees_of.values()))
        options = ("-r", "-z", "--no-renames", "--no-ext-diff", "--full-index")
        found = trees.parse_diffs(self._git.must("diff-tree", "--stdin", *options, stdin=asked.encode()))
        return {pair: found.get(trees_of[pair], {}) for pair in wanted}

    def not_in(self, commits: Iterable[str], head: str) -> set[str]:
        """Those of these commits that `head` does not contain, or that are no longer here. One process for all."""
        wanted = sorted({names.sha(sha) for sha in commits})
        here = [sha for sha, found in zip(wanted, self._reader.lookup(wanted), strict=True) if found is not None]
        if not here:
            return set(wanted)
        asked = "".join(f"{sha}\n" for sha in here) + f"^{names.sha(head)}\n"
        found = self._git.must("rev-list", "--stdin", stdin=asked.encode()).decode().split()
        return (set(wanted) - set(here)) | (set(here) & set(found))

    def changes_of(self, path: str, old: str, new: str, limit: int = 200) -> list[str]:
        """Commits of the first-parent line from `old` to `new` that changed a file, newest first."""
        parts = names.document_path(path)
        asked = (
            "--first-parent",
            f"--max-count={int(limit)}",
            "--end-of-options",
            names.sha(new),
            f"^{names.sha(old)}",
        )
        return self._git.must("rev-list", *asked, "--", "/".join(parts)).decode().split()

    def between(self, old: str, new: str, limit: int = 1000, *, under: str | None = None) -> list[str]:
        """Commits that `new` contains and `old` does not, newest first; `under`: only those that changed something in
        this folder, on whatever side of a merge."""
        asked = [
            "--full-history",
            f"--max-count={int(limit)}",
            "--end-of-options",
            names.sha(new),
            f"^{names.sha(old)}",
        ]
        paths = ["--", *(["/".join(names.document_path(under))] if under is not None else [])]
        return self._git.must("rev-list", *asked, *paths).decode().split()

    def brought(self, commit: str, head: str) -> str | None:
        """The commit of `head`'s first-parent line that brought this one: a merge, or itself where it stands on that
        line. None: `head` does not contain it."""
        new, old = names.sha(head), names.sha(commit)
        line = self._git.must("rev-list", "--first-parent", "--end-of-options", new, f"^{old}").decode().split()
        above = self._git.must("rev-list", "--ancestry-path", "--end-of-options", new, f"^{old}").decode().split()
        holding = set(above)
        oldest = next((sha for sha in reversed(line) if sha in holding), None)
        if oldest is None:
            return old if old == new else None
        return old if self._reader.commits([oldest])[oldest].parents[0] == old else oldest

    # Writing ---------------------------------------------------------------------------------------------------------

    def store_commit(
        self,
        *,
        parents: Sequence[str],
        changes: Mapping[str, bytes | None],
        message: str,
        author: tuple[str, str],
    ) -> str:
        """A commit on no ref: the tree of the first parent with files written or, with None, removed. Raises
        PathRefused. It can be read like any other until git tidies up, some weeks later."""
        parsed = {names.document_path(path): data for path, data in changes.items()}
        old = self._reader.commit(names.sha(parents[0])).tree
        tree, objects = trees.edit_tree(self._reader, old, parsed)
        if tree is None:
            tree, objects = EMPTY_TREE, [new_object("tree", b"")]
        commit = new_commit(tree=tree, parents=parents, author=author, committer=US, at=self._clock(), message=message)
        self._refs.store([*objects, commit])
        return commit.id

    def add_lines(self, move: Move, item: NotesAppend) -> None:
        """Raises SecretRefused, NameRefused, and ObjectMissing if the notes cannot be read."""
        objects, updates, refused = self._notes.draft([item])
        if refused:
            raise GitFailed(f"the notes of change {item.name} cannot be read: {refused[item.name].rejected_by}")
        move.objects += objects
        move.updates.append(updates[item.name])

    def set_branch(self, move: Move, change: str, old: str | None, new: str | None) -> None:
        move.updates.append(RefUpdate(ref=names.CHANGES + names.change(change), old=old, new=new))

    def set_main(self, move: Move, branch: str, old: str, new: str) -> None:
        move.updates.append(RefUpdate(ref=f"refs/heads/{names.branch(branch)}", old=old, new=new))

    def take_key(self, move: Move, key: str, text: str, keeps: str) -> None:
        """Only one can: whoever is second is told RefMoved. `keeps`: a commit that stays reachable by it."""
        commit = new_commit(tree=EMPTY_TREE, parents=[keeps], author=US, committer=US, at=self._clock(), message=text)
        move.objects += [new_object("tree", b""), commit]
        move.updates.append(RefUpdate(ref=names.KEYS + names.key(key), old=None, new=commit.id))

    def publish(self, move: Move) -> None:
        """Raises RefMoved (`ref` says which), and what `fetch` raises."""
        self._refs.store(move.objects)
        self._move(move.updates, self._refs.publish_together)

    def _at(self, ref: str) -> str | None:
        found = self._reader.lookup([f"{ref}^{{commit}}"])[0]
        return found.id if found else None
