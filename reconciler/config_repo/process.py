"""Running git: the one place that imports GitPython, and the rules under which a git process may run here.

Only plumbing with fixed arguments; what people typed goes by stdin or has passed `names`. No prompt, no hook, no
configuration but the repository's own, few protocols, a time limit for each process, and none left behind.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import git

from reconciler.config_repo.errors import GitFailed, NotARepository
from reconciler.config_repo.records import Credential
from schemas.secrets import mask_secrets

TIMEOUT = 60.0
REMOTE_TIMEOUT = 180.0
SSH = "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=4"

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",  # its value may name a program
    "core.fsync": "all",
    "core.fsyncMethod": "batch",  # one flush for all objects of a batch, before the ref moves
    "core.warnAmbiguousRefs": "false",
    "core.askPass": "",
    "credential.helper": "",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",  # nothing runs on in the background
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "30",
    "maintenance.auto": "false",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
}

# Of git's variables the ones that can be neither unset nor overruled from here.
_MISLEADING = ("GIT_COMMON_DIR", "GIT_WORK_TREE")


@dataclass(frozen=True, slots=True)
class Completed:
    code: int
    out: bytes
    err: str

    @property
    def ok(self) -> bool:
        return self.code == 0


class GitTimeout(GitFailed):
    """A git process was stopped because it took too long."""


class Git:
    """Processes in one repository. Thread-safe: each call is a process of its own."""

    def __init__(self, path: Path) -> None:
        for name in _MISLEADING:
            if name in os.environ:
                raise NotARepository(
                    f"{name} is set in the environment and would change what a repository is; unset it"
                )
        git_dir, self.work_tree = _find(path)
        # git.Git and not git.Repo: Repo takes GIT_DIR and its like from our caller's environment (a hook's, say) and
        # keeps processes of its own; all we want from it is a careful way to start a process.
        self._runner = git.Git(self.work_tree or git_dir)
        self._runner.update_environment(**_environment(git_dir))
        asked = self.run("rev-parse", "--is-bare-repository", "--show-object-format")
        if not asked.ok:
            raise NotARepository(f"{path} is not a git repository: {asked.err}")
        bare, object_format = asked.out.decode().split()
        if object_format != "sha1":
            raise NotARepository(f"{path} uses {object_format} object ids, which are not supported yet")
        if bare == "true":
            self.work_tree = None

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        timeout: float = TIMEOUT,
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run to the end and return whatever the exit code. Raises GitTimeout only."""
        process = self.start(*args, env=env)
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired as error:
            # The whole group: git's helpers (ssh, remote-https) hold the pipes too.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise GitTimeout(f"git {args[0]} took longer than {timeout:g} s") from error
        return Completed(process.returncode, out, tidy(err))

    def must(self, *args: str, stdin: bytes = b"", timeout: float = TIMEOUT) -> bytes:
        """As `run`, but anything else than exit code 0 is a GitFailed."""
        done = self.run(*args, stdin=stdin, timeout=timeout)
        if not done.ok:
            raise GitFailed(f"git {args[0]} failed: {done.err or done.code}")
        return done.out

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """A running process with three pipes. Whoever starts it ends it."""
        handle = self._runner.execute(
            ["git", *args],
            istream=subprocess.PIPE,  # type: ignore[call-overload,unused-ignore]
            as_process=True,
            start_new_session=True,
            env=env,
        )
        process = cast("subprocess.Popen[bytes]", handle.proc)  # pyright: ignore[reportUnknownMemberType]
        handle.proc = None  # its finalizer would end the process behind our back
        return process


def initialise(path: Path, branch: str) -> None:
    """An empty bare repository; harmless where one is already."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    runner = git.Git(path)
    runner.update_environment(**_environment(None))
    runner.execute(["git", "init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", "."])


def remote_environment(url: str, credential: Credential | None) -> dict[str, str]:
    """What one talk with a remote may do: its one protocol (no redirect to another), and its credential.

    The credential is a setting bound to the remote's own address; it is in no argument list and no file.
    """
    scheme = url.partition("://")[0] if "://" in url else "ssh"
    env = {"GIT_ALLOW_PROTOCOL": scheme}
    if credential is not None and scheme in ("http", "https"):
        token = base64.b64encode(f"{credential.username}:{credential.password}".encode()).decode()
        number = len(_SETTINGS)
        env |= {
            "GIT_CONFIG_COUNT": str(number + 1),
            f"GIT_CONFIG_KEY_{number}": f"http.{url}.extraHeader",
            f"GIT_CONFIG_VALUE_{number}": f"Authorization: Basic {token}",
        }
    return env


def tidy(err: bytes) -> str:
    """A process's complaints as one short line without secrets."""
    text = mask_secrets(err.decode("utf-8", "replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("hint:")]
    return "; ".join(lines)[:500]


def _find(path: Path) -> tuple[Path, Path | None]:
    """The git directory and the work tree of a folder; git's own rules, but without searching upwards."""
    dot_git = path / ".git"
    if path.name == ".git" and path.is_dir():
        return path, path.parent
    if dot_git.is_dir():
        return dot_git, path
    if dot_git.is_file():  # a linked work tree or a submodule
        target = dot_git.read_text().removeprefix("gitdir:").strip()
        return path / target, path
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return path, None
    raise NotARepository(f"{path} is not a git repository")


def _environment(git_dir: Path | None) -> dict[str, str]:
    env = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        "GIT_ALLOW_PROTOCOL": "none",  # whoever talks to a remote allows its one protocol
        "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", SSH),
        "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not go to the network in the middle of a read
        "GIT_NO_REPLACE_OBJECTS": "1",  # a replace ref would show another content under a revision's id
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TRACE": "0",
    }
    for number, (key, value) in enumerate(_SETTINGS.items()):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    if git_dir is not None:
        # Named outright: neither the caller's GIT_* variables nor a search upwards decide where we are.
        git_dir = git_dir.resolve()
        shared = git_dir / "commondir"
        common = (git_dir / shared.read_text().strip()).resolve() if shared.is_file() else git_dir
        env |= {
            "GIT_DIR": str(git_dir),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_INDEX_FILE": str(git_dir / "index"),
            "GIT_NAMESPACE": "",
        }
    return env
