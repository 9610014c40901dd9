"""Whatever people, others and the network do: no request to HyperPod breaks a law. See the machines."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

from tests.laws.guarded_machine import GuardedMachine
from tests.laws.hyperpod_machine import HyperPodMachine

LAWS = settings(
    max_examples=9,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),  # one step takes long: a failure is told as it was met
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
HyperPodMachine.TestCase.settings = LAWS
GuardedMachine.TestCase.settings = LAWS
TestHyperPod = HyperPodMachine.TestCase
TestGuards = GuardedMachine.TestCase
