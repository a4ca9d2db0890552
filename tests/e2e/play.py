"""Build and install the Ansible collection as users get it, and run its role on a machine."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.machine import Machine
from tests.rules.sources import CHECKOUT

BIN = Path(sys.executable).parent
ROLE = "dataplane.sidecar.dataplaneapi"


class Playbook:
    """A playbook in a directory that runs the role with these variables."""

    def __init__(self, directory: Path, machine: Machine, **variables: Any) -> None:
        self._plays = Plays(directory, {"balancer": machine}, ROLE, **variables)

    def run(self, *words: str, fails: bool = False, **variables: Any) -> tuple[str, dict[str, int]]:
        """What it prints, and the numbers of its recap; it `fails` where it should."""
        output, recaps = self._plays.run(*words, fails=fails, **variables)
        return output, recaps["balancer"]


class Plays:
    """Runs of a role on several machines, by their names in the inventory. `directory` is a place for files; `variables` are the role's."""

    def __init__(self, directory: Path, machines: Mapping[str, Machine], role: str, **variables: Any) -> None:
        self._directory, self._machines, self._variables = directory, machines, variables
        self._environment = {
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(directory),
            "ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).with_name("connection")),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCAL_TEMP": str(directory / "ansible"),
        }
        self._ansible("ansible-galaxy", "collection", "build", "--output-path", str(directory), str(CHECKOUT / "ansible"))
        (built,) = directory.glob("*.tar.gz")
        self._ansible("ansible-galaxy", "collection", "install", str(built), "--collections-path", str(directory), "--offline")
        (directory / "play.yml").write_text(json.dumps([{"hosts": "all", "roles": [role], "gather_subset": ["min"]}]))

    def run(self, *words: str, fails: bool = False, **variables: Any) -> tuple[str, dict[str, dict[str, int]]]:
        """Return the output, and the numbers of each machine's recap. `fails`: whether the run is to fail."""
        hosts = {name: {"inside_leader": machine.leader} for name, machine in self._machines.items()}
        common = {"ansible_connection": "inside", "ansible_python_interpreter": "/usr/bin/python3", **self._variables, **variables}
        inventory = self._directory / "inventory.yml"
        inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": common}}))
        output = self._ansible("ansible-playbook", "-i", str(inventory), str(self._directory / "play.yml"), *words, fails=fails)
        recaps = re.findall(r"^(\w+) +: (ok=.*)$", output, re.MULTILINE)
        return output, {name: {what: int(number) for what, number in re.findall(r"(\w+)=(\d+)", recap)} for name, recap in recaps}

    def _ansible(self, *words: str, fails: bool = False) -> str:
        done = subprocess.run(words, cwd=self._directory, env=self._environment, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) is fails, done.stdout + done.stderr + "".join(each.journal() for each in self._machines.values())
        return done.stdout
