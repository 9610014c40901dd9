"""One cluster by itself: `python -m reconciler.sandbox.kubernetes --port 0 --token T`.

Prints one JSON line {endpoint, ca, token} and serves until it is told to end.
"""

import argparse
import secrets
import signal
import threading

import orjson

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.access import MASTERS, UserInfo
from reconciler.sandbox.kubernetes.server import ApiServers


def main() -> None:
    arguments = _arguments()
    token: str = arguments.token or secrets.token_urlsafe(24)
    admin = UserInfo(name="kubernetes-admin", groups=(MASTERS,))
    stop = threading.Event()

    def end(number: int, frame: object) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)

    def authenticate(given: str) -> UserInfo | None:
        return admin if secrets.compare_digest(given.encode(), token.encode()) else None

    servers = ApiServers(
        authenticate=lambda cluster: authenticate,
        latency=arguments.latency,
        clock=Clock(arguments.rate),
    )
    with servers:
        endpoint = servers.start("sandbox", port=arguments.port)
        line = {"endpoint": endpoint.url, "ca": endpoint.ca_pem, "token": token}
        print(orjson.dumps(line).decode(), flush=True)
        stop.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reconciler.sandbox.kubernetes", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", default="", help="the bearer token of the administrator; made up if absent")
    parser.add_argument("--latency", type=float, default=0.0, help="real seconds before every reply")
    parser.add_argument("--rate", type=float, default=1.0, help="simulated seconds per real second")
    return parser.parse_args()


if __name__ == "__main__":
    main()
