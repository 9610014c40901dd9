"""Rules with one right less."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reconciler.live.kube.rights import Rule


def without(rules: Iterable[Rule], verb: str, resource: str, group: str) -> list[Rule]:
    """All rights but that one. A rule that would have no verb left is none: a server refuses it."""
    return [left for rule in rules for left in _cut(rule, verb, resource, group)]


def pairs(rules: Iterable[Rule]) -> list[tuple[str, str, str]]:
    """Every single right: verb, resource, group."""
    return [(verb, resource, rule.group) for rule in rules for resource in rule.resources for verb in rule.verbs]


def _cut(rule: Rule, verb: str, resource: str, group: str) -> list[Rule]:
    if rule.group != group or resource not in rule.resources or verb not in rule.verbs:
        return [rule]
    others = tuple(each for each in rule.resources if each != resource)
    verbs = tuple(each for each in rule.verbs if each != verb)
    found = [replace(rule, resources=others)] if others else []
    return [*found, replace(rule, resources=(resource,), verbs=verbs)] if verbs else found
