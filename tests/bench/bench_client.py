"""What a new account or region costs: time to the first answer, and memory. Against a plain boto3.Session for each."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.bench.measuring import python
from tests.bench.rows import Goal, Row, Size
from tests.live.aws_server import FakeAws

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "for-tests-only",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
}


def main(size: Size = Size.NORMAL) -> list[Row]:
    places = 2 if size is Size.TINY else 20
    fake, before = FakeAws(), dict(os.environ)
    try:
        os.environ.update({**SETTINGS, "AWS_ENDPOINT_URL": fake.url})
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            python("aws_clients", "ours", "answer", "1", where=where)  # compiles
            _, ours = python("aws_clients", "ours", "client", str(places), where=where)
            _, plain = python("aws_clients", "plain", "client", str(places), where=where)
            _, answer = python("aws_clients", "ours", "answer", str(places), where=where)
            _, plainly = python("aws_clients", "plain", "answer", str(places), where=where)
    finally:
        os.environ.clear()
        os.environ.update(before)
        fake.close()
    against = "a plain boto3.Session for each"
    return [
        Row(
            bench="a client for a new account or region: CPU",
            measured=ours["cpu"],
            unit="ms",
            reference=plain["cpu"],
            against=against,
            goal=Goal.AT_MOST,
            limit=15,
            note=f"session and client of SageMaker, CPU: it waits for nobody; wall {ours['wall']:.1f} ms to "
            f"{plain['wall']:.1f} ms; median of {places}",
        ),
        Row(
            bench="memory of that client",
            measured=ours["memory"],
            unit="MB",
            reference=plain["memory"],
            against=against,
            goal=Goal.AT_MOST,
            limit=1,
        ),
        Row(
            bench="a new account or region, to its first answer",
            measured=answer["wall"],
            unit="ms",
            reference=plainly["wall"],
            against=against,
            note=f"and a client of STS, and one call to each over loopback; CPU {answer['cpu']:.1f} ms to "
            f"{plainly['cpu']:.1f} ms; memory {answer['memory']:.2f} MB to {plainly['memory']:.1f} MB",
        ),
    ]


if __name__ == "__main__":
    from tests.bench.run import show

    show(main())
