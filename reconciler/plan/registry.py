"""All rules by resource type."""

from __future__ import annotations

from reconciler.plan.kinds import control_plane, hyperpod, network, storage
from reconciler.plan.rules import Rule

RULES: dict[str, Rule] = {
    rule.type: rule for rule in (*network.RULES, *control_plane.RULES, *hyperpod.RULES, *storage.RULES)
}


def rule_for(type_: str) -> Rule:
    """The rule of a type. Raises KeyError: a type without a rule is a mistake of ours."""
    return RULES[type_]
