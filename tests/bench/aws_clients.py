"""Clients of new accounts and regions in a process of its own: `ours` or `plain`, up to its client
or to its first answer. The last line is JSON.

`client` makes a session and a client of SageMaker; `answer` asks then, as the product does, whose credentials these
are, and one question to SageMaker.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tests.bench.measuring import memory_now


def main() -> None:
    way, asking, places = sys.argv[1], sys.argv[2] == "answer", int(sys.argv[3])
    with ExitStack() as stack:
        ask: Callable[[str], None] = {"ours": ours, "plain": plain}[way](stack, asking)
        ask("us-west-2")  # the first of a process loads service models, whatever the way
        before, samples, cpus = memory_now(), list[float](), list[float]()
        for number in range(places):
            start, cpu = time.perf_counter(), time.process_time()
            ask(f"xx-region-{number}")
            samples.append((time.perf_counter() - start) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
        told = {
            "wall": statistics.median(samples),
            "cpu": statistics.median(cpus),
            "memory": (memory_now() - before) / places,
        }
    print(json.dumps(told))


def ours(stack: ExitStack, asking: bool) -> Callable[[str], None]:
    from reconciler.live.aws.accounts import AwsAccounts
    from tests.live.aws_server import ACCOUNT

    accounts = stack.enter_context(AwsAccounts())

    def ask(region: str) -> None:
        session: Any = accounts.session(ACCOUNT, region)
        if asking:
            session.read("sagemaker", "DescribeCluster", ClusterName="prod")
        else:
            session._client("sagemaker", mutating=False)  # there is no other way to have it without a call

    return ask


def plain(_stack: ExitStack, asking: bool) -> Callable[[str], None]:
    import boto3

    kept: list[Any] = []

    def ask(region: str) -> None:
        session: Any = boto3.Session(region_name=region)
        sagemaker = session.client("sagemaker")
        kept.extend((session, sagemaker))
        if asking:
            kept.append(session.client("sts"))
            kept[-1].get_caller_identity()
            sagemaker.describe_cluster(ClusterName="prod")

    return ask


if __name__ == "__main__":
    main()
