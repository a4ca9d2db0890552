"""Measure the time that limited rights add to a change, by calls of a user with all rights and of a user with a role in turn."""

import tempfile
from base64 import b64encode
from pathlib import Path
from statistics import median

from bench.connection import Connection
from bench.farm import Farm, farm
from bench.plan import Effort
from bench.subject import CONFIGURATION, running
from tests.haproxy import binaries

ROW = "change of one whose rights are limited / of one whose are not"
LIMITED = b64encode(b"ci:bench").decode()
USER = "    - {name: admin, password: bench, insecure: true"
ROLES = """\
  roles:
    weights:
      - {objects: "backend/*/server/*", may: [read, change], fields: [weight], reload: never}
"""


def of_rights(command: str, work: Effort) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        site = farm(work.entered, Path(directory), binaries.newest())
        with site.haproxy, running(f"{command} -f {_settings(site)}", site.port, site.directory) as subject:
            free, limited = measured(site, subject.port, work.entries)
    return {ROW: median(limited) / median(free)}


def _settings(site: Farm) -> Path:
    """Those of the farm, with a second user."""
    file = site.settings()
    users = f"{USER}, role: admin}}\n    - {{name: ci, password: bench, insecure: true, role: weights}}\n"
    file.write_text(file.read_text().replace(f"{USER}}}\n", users).replace("  transaction:\n", f"{ROLES}  transaction:\n"))
    return file


def measured(site: Farm, port: int, changes: int) -> tuple[list[float], list[float]]:
    """Seconds of each change of a weight, of either user."""
    took: tuple[list[float], list[float]] = ([], [])
    with Connection(port) as free, Connection(port, LIMITED) as limited:
        for number in range(2 * changes):
            version = free.ask("GET", f"{CONFIGURATION}/version").json()
            backend, name = site.server(number)
            path = f"{CONFIGURATION}/backends/{backend}/servers/{name}?version={version}"
            changed = (free, limited)[number % 2].ask("PUT", path, site.server_body(number, 99))
            took[number % 2].append(changed.seconds)
    return took
