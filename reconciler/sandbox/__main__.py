"""`python -m reconciler.sandbox`: a small real cloud until SIGTERM; its address is one line of JSON on stdout."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.control import CONTROL, Control
from reconciler.sandbox.hosting import compose
from reconciler.sandbox.real.programs import programs_in
from reconciler.sandbox.server import SandboxServer

SIMULATED, REAL = "simulated", "real"


def main() -> None:
    asked = _arguments()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    # Logs of one line a request: the request log has them, with more.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    try:
        programs = programs_in(asked.kubernetes_programs) if asked.kubernetes == REAL else None
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    cloud = compose(Clock(asked.rate), simulators=True, programs=programs)
    identity = cloud.world.credentials.account(asked.account)
    server = SandboxServer(asked.port, cloud, Control(cloud, asked.region))
    stopping = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda _number, _frame: stopping.set())
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    cloud.start()
    about = {
        "endpoint": server.endpoint,
        "control": server.endpoint + CONTROL,
        "account": identity.account,
        "region": asked.region,
        "access_key": identity.access_key,
        "secret_key": identity.secret,
        "rate": asked.rate,
        "origin": cloud.agenda.clock.origin,
    }
    if asked.state:
        asked.state.write_text(json.dumps(about) + "\n")
    print(json.dumps(about), flush=True)
    stopping.wait()
    server.shutdown()
    cloud.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reconciler.sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rate", type=float, default=float(os.environ.get("INSTANTSTART_CLOCK_RATE", "1")))
    parser.add_argument("--account", default="111122223333")
    parser.add_argument("--region", default="us-west-2")
    parser.add_argument("--state", type=Path, help="a file that gets the line, too")
    parser.add_argument("--kubernetes", choices=(SIMULATED, REAL), default=SIMULATED, help="what serves the clusters")
    parser.add_argument(
        "--kubernetes-programs", type=Path, help="the folder of etcd, kube-apiserver and kube-controllers"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
