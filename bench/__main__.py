"""`python -m bench [NAME=COMMAND ...]`: measure each server, started as `COMMAND -f dataplaneapi.yaml` with a real HAProxy.

Without any it measures ours. Prints medians, the ratio of each server to the first, and whether the figures hold.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from bench.apply import of_apply
from bench.arrivals import arrivals
from bench.ctl import of_ctl
from bench.effects import of_effects
from bench.farm import Farm, farm
from bench.fleet import of_fleet
from bench.floors import floors
from bench.history import of_history
from bench.others import others_wait
from bench.page import of_page
from bench.plan import Effort, effort
from bench.refusals import of_refusals
from bench.report import tables
from bench.rights import of_rights
from bench.routing import slowest_path
from bench.rows import Run
from bench.statistics_history import of_statistics_history
from bench.subject import running
from bench.subscribers import subscribers
from tests.haproxy import binaries

OURS = f"sidecar={Path(sys.executable).with_name('dataplaneapi')}"


def main() -> None:
    options = parser().parse_args()
    servers = dict(server.split("=", 1) for server in options.servers or [OURS])
    results = {}
    for size in options.sizes:
        work = effort(size, transactions=options.transactions, quick=options.quick)
        measured = {name: measure(command, size, work) for name, command in servers.items()}
        lowest = measure_floors(size, work)
        if OURS in (f"{name}={command}" for name, command in servers.items()):
            measured["sidecar"]["routing, slowest path"] = slowest_path()
            if size == options.sizes[0]:
                measured["sidecar"] |= {
                    **arrivals(work),
                    **of_history(work),
                    **of_rights(servers["sidecar"], work),
                    **subscribers(servers["sidecar"], work),
                    **of_ctl(),
                    **of_apply(work),
                    **others_wait(),
                    **of_refusals(),
                    **of_effects(),
                    **of_statistics_history(),
                    **of_page(work),
                    **of_fleet(servers["sidecar"], work),
                }
        print(tables(size, lowest, measured), flush=True)
        results[str(size)] = {"floors": lowest, **measured}
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench", description="Measures servers of the Data Plane API side by side.")
    made.add_argument("servers", nargs="*", metavar="NAME=COMMAND", help="a server; COMMAND is run with -f dataplaneapi.yaml")
    made.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[100, 5000, 50_000], help="servers of the farms"
    )
    made.add_argument("--transactions", type=int, default=1000, help="how many are opened at once in the last row")
    made.add_argument("--json", type=Path, help="write the results there, too")
    made.add_argument("--quick", action="store_true", help="one pass without statistics, to see that everything runs")
    return made


def measure(command: str, size: int, work: Effort) -> dict[str, float]:
    """All rows of one server, each on an unchanged farm."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        site = farm(size, Path(directory), binaries.newest())
        with site.haproxy:
            with running(f"{command} -f {site.settings()}", site.port, site.directory) as subject:
                rows = dict(Run(subject, site, work).all())
            rows["start"] = median([rows["start"], *(start_time(command, site) for _ in range(work.starts - 1))])
            with running(f"{command} -f {site.settings(validate=False)}", site.port, site.directory) as subject:
                rows["live change, unvalidated"] = Run(subject, site, work).live_change()
        return rows


def start_time(command: str, site: Farm) -> float:
    with running(f"{command} -f {site.settings()}", site.port, site.directory) as subject:
        return subject.seconds_to_start


def measure_floors(size: int, work: Effort) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        site = farm(size, Path(directory), binaries.newest())
        body = json.dumps(site.server_body(0, 100)).encode()
        with site.haproxy:
            return floors(site, body, clients=work.clients, seconds=work.seconds)


if __name__ == "__main__":
    main()
