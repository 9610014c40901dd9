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
from git.exc import GitCommandNotFound, InvalidGitRepositoryError, NoSuchPathError

from reconciler.config_repo.errors import GitFailed, NotARepository
from reconciler.config_repo.records import Credential
from reconciler.config_repo.secrets import mask_secrets

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
        try:
            self._repo = git.Repo(path, expand_vars=False, search_parent_directories=False)
        except (InvalidGitRepositoryError, NoSuchPathError) as error:
            raise NotARepository(f"{path} is not a git repository") from error
        except GitCommandNotFound as error:  # pragma: no cover - a machine without git
            raise NotARepository("git is not installed") from error
        self.work_tree = None if self._repo.bare else self._repo.working_tree_dir
        self._repo.git.update_environment(**_environment(Path(self._repo.git_dir), Path(self._repo.common_dir)))

    def close(self) -> None:
        self._repo.close()

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
        handle = self._repo.git.execute(
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
    runner.update_environment(**_environment(None, None))
    runner.execute(["git", "init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", "."])


def credential_environment(url: str, credential: Credential, base: int = len(_SETTINGS)) -> dict[str, str]:
    """The credential as one more setting, bound to the remote's own address; so it is in no argument list."""
    token = base64.b64encode(f"{credential.username}:{credential.password}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": str(base + 1),
        f"GIT_CONFIG_KEY_{base}": f"http.{url}.extraHeader",
        f"GIT_CONFIG_VALUE_{base}": f"Authorization: Basic {token}",
    }


def tidy(err: bytes) -> str:
    """A process's complaints as one short line without secrets."""
    text = mask_secrets(err.decode("utf-8", "replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("hint:")]
    return "; ".join(lines)[:500]


def _environment(git_dir: Path | None, common_dir: Path | None) -> dict[str, str]:
    env = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        "GIT_ALLOW_PROTOCOL": "file:ssh:https:http",  # http: `locations` lets it through to loopback only
        "GIT_SSH_COMMAND": SSH,
        "GIT_NO_REPLACE_OBJECTS": "1",  # a replace ref would show another content under a revision's id
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TRACE": "0",
    }
    for number, (key, value) in enumerate(_SETTINGS.items()):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    if git_dir is not None and common_dir is not None:
        # Named outright: neither the caller's GIT_* variables nor a search upwards decide where we are.
        env |= {
            "GIT_DIR": str(git_dir.resolve()),
            "GIT_COMMON_DIR": str(common_dir.resolve()),
            "GIT_OBJECT_DIRECTORY": str(common_dir.resolve() / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_INDEX_FILE": str(git_dir.resolve() / "index"),
            "GIT_NAMESPACE": "",
        }
    return env
