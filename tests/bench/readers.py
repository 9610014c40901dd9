"""Readers of the API in a process of their own, over kept connections. Prints what they waited, in milliseconds.

Arguments: URL, token, readers, requests a second of all of them together (the service takes some 200 from one token),
seconds, then the paths, which they ask in turn.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit


def main() -> None:
    url, token, readers, rate, seconds, *paths = sys.argv[1:]
    waited: list[float] = []
    failed: list[Exception] = []

    def work(number: int) -> None:
        try:
            read(url, token, paths, float(rate) / int(readers), float(seconds), number, waited)
        except Exception as error:  # told at the end: half of the readers would be half of the load
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(int(readers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise RuntimeError(f"{len(failed)} readers failed: {failed[0]!r}")
    cuts = statistics.quantiles(waited, n=100)
    shown = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "count": len(waited), "bytes": _size(url, token, paths)}
    print(json.dumps(shown))


def read(
    url: str, token: str, paths: Sequence[str], rate: float, seconds: float, number: int, waited: list[float]
) -> None:
    """One reader. Times begin when the request should have left, so that a slow answer delays nobody's count."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    headers = {"Authorization": f"Bearer {token}"}
    start = time.perf_counter() + number * 0.013
    turn = 0
    while (now := time.perf_counter()) - start < seconds:
        due = start + turn / rate
        if due > now:
            time.sleep(due - now)
        connection.request("GET", paths[(turn + number) % len(paths)], headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body[:300]!r}")
        waited.append((time.perf_counter() - due) * 1000)
        turn += 1


def _size(url: str, token: str, paths: Sequence[str]) -> int:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    connection.request("GET", paths[0], headers={"Authorization": f"Bearer {token}"})
    return len(connection.getresponse().read())


if __name__ == "__main__":
    main()
