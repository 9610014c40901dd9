"""A folder of files to the documents of one cluster, and what is wrong between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from schemas.documents import regions
from schemas.documents.cluster import Cluster
from schemas.documents.instance_group import InstanceGroup
from schemas.documents.parse import parse_file, parse_files, spot_of
from schemas.documents.policy import POLICY_PATH, Policy, built_in
from schemas.documents.problems import Problem, problem
from schemas.documents.records import Document, LoadedCluster, LoadedPolicy, ParsedFile, SourceFile
from schemas.reading.read import is_document_file
from schemas.reading.records import Path, Spot

_SCRIPT: Final[Path] = ("spec", "lifecycleScript")
_ZONE: Final[Path] = ("spec", "zone")


def load_cluster(name: str, files: Sequence[SourceFile]) -> LoadedCluster:
    """All files of the folder `clusters/<name>/`, whatever they are. Never raises: problems are in the result."""
    return assemble(name, parse_files(files))


def assemble(name: str, parsed: Sequence[ParsedFile]) -> LoadedCluster:
    """The same from files that are parsed already. Only what lies between documents is checked here."""
    folder = f"clusters/{name}/"
    by_path = {file.path: file for file in parsed}
    files = [by_path[path] for path in sorted(by_path)]
    documents = sorted(
        (document for file in files for document in file.documents),
        key=lambda document: (document.kind, document.name, document.path, document.line),
    )
    others = {file.path.removeprefix(folder): file.data for file in files if not is_document_file(file.path)}
    problems = [
        *(found for file in files for found in file.problems),
        *_one_cluster(name, folder, files, documents),
        *_misplaced(by_path, documents),
        *_same_identity(by_path, documents),
        *_scripts(folder, by_path, documents, others),
        *_zones(by_path, documents),
    ]
    problems.sort(key=lambda found: (found.file, found.line, found.column))
    return LoadedCluster(name=name, documents=tuple(documents), problems=tuple(problems), others=others)


def load_policy(file: SourceFile | None) -> LoadedPolicy:
    """The policy file, or None where there is none: then the built-in policy holds."""
    if file is None:
        return LoadedPolicy(policy=built_in())
    parsed = parse_file(file.path, file.data)
    problems = list(parsed.problems)
    found = [document for document in parsed.documents if isinstance(document.model, Policy)]
    for document in parsed.documents:
        if not isinstance(document.model, Policy):
            spot = spot_of(parsed, document, ("kind",))
            hint = "put it into its cluster's folder"
            problems.append(problem(file.path, spot, ("kind",), expected="Policy", found=document.kind, hint=hint))
    for document in found[1:]:
        spot = Spot(document.line, 1)
        first = f"another one (first in line {found[0].line})"
        problems.append(problem(file.path, spot, (), expected="one Policy", found=first))
    if not found and not problems:
        problems.append(
            problem(file.path, Spot(1, 1), (), expected="a Policy", found="no document", hint="or remove the file")
        )
    policy = found[0].model if found and not problems else None
    return LoadedPolicy(policy=policy if isinstance(policy, Policy) else built_in(), problems=tuple(problems))


def _one_cluster(
    name: str, folder: str, files: Sequence[ParsedFile], documents: Sequence[Document]
) -> Iterator[Problem]:
    found = [document for document in documents if isinstance(document.model, Cluster)]
    if not found:
        # One that could not be read has its own problems, and is not missing.
        if not any(file.refused & {"Cluster", ""} for file in files):
            hint = f"add clusters/{name}/cluster.yaml"
            yield problem(folder, Spot(1, 1), (), expected="exactly one Cluster", found="none", hint=hint)
        return
    by_path = {file.path: file for file in files}
    for document in found:
        if document.name != name:
            field: Path = ("metadata", "name")
            yield problem(
                document.path,
                spot_of(by_path[document.path], document, field),
                field,
                expected=f"{name}, the name of the folder",
                found=f'"{document.name}"',
                hint="a cluster cannot be renamed; a copy goes into a folder of its own",
            )
    first, *more = sorted(found, key=lambda document: (document.path, document.line))
    for document in more:
        if document.name != first.name:  # the same name twice is reported as such
            there = f"another one (first in {first.path}:{first.line})"
            spot = Spot(document.line, 1)
            yield problem(document.path, spot, ("kind",), expected="exactly one Cluster", found=there)


def _misplaced(by_path: dict[str, ParsedFile], documents: Sequence[Document]) -> Iterator[Problem]:
    for document in documents:
        if isinstance(document.model, Policy):
            spot = spot_of(by_path[document.path], document, ("kind",))
            expected = "a kind that belongs to a cluster"
            hint = f"the Policy is {POLICY_PATH}"
            yield problem(document.path, spot, ("kind",), expected=expected, found="Policy", hint=hint)


def _same_identity(by_path: dict[str, ParsedFile], documents: Sequence[Document]) -> Iterator[Problem]:
    """Two documents with one name, in one file or in two that were merged without a conflict."""
    same: dict[tuple[str, str], list[Document]] = defaultdict(list)
    for document in documents:
        same[document.kind, document.name].append(document)
    for (kind, name), (first, *more) in same.items():
        for document in more:
            field: Path = ("metadata", "name")
            yield problem(
                document.path,
                spot_of(by_path[document.path], document, field),
                field,
                expected=f"each {kind} once",
                found=f"{name} a second time (first in {first.path}:{first.line})",
                hint="keep one of the two",
            )


def _scripts(
    folder: str, by_path: dict[str, ParsedFile], documents: Sequence[Document], others: dict[str, bytes]
) -> Iterator[Problem]:
    """A lifecycle script that is not there, or cannot start: found out on a machine, it costs money."""
    for document in documents:
        if not isinstance(document.model, Cluster | InstanceGroup):
            continue
        target = document.model.spec.lifecycle_script
        if target is None:
            continue
        if target not in others:
            expected, found = "a file of the cluster's folder", f'"{target}", which is not there'
            hint = f"add {folder}{target}"
        elif not others[target].startswith(b"#!"):
            expected, found = "a script that starts with #!", f'"{target}", which does not'
            hint = "begin it with #!/bin/bash"
        elif b"\r\n" in others[target]:
            expected, found = "a script with LF line ends", f'"{target}", which has CRLF'
            hint = "the node could not run it"
        else:
            continue
        spot = spot_of(by_path[document.path], document, _SCRIPT)
        yield problem(document.path, spot, _SCRIPT, expected=expected, found=found, hint=hint)


def _zones(by_path: dict[str, ParsedFile], documents: Sequence[Document]) -> Iterator[Problem]:
    region = next((d.model.spec.region for d in documents if isinstance(d.model, Cluster)), None)
    for document in documents:
        if region is None or not isinstance(document.model, InstanceGroup):
            continue
        zone = document.model.spec.zone
        if zone is None or regions.holds(region, zone):
            continue
        yield problem(
            document.path,
            spot_of(by_path[document.path], document, _ZONE),
            _ZONE,
            expected=f"a zone of {region}, such as {regions.zone_id_prefix(region)}-az1",
            found=f'"{zone}"',
        )
