"""Build and install the Ansible collection as users get it, and run its role on a machine."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.machine import Machine
from tests.rules.sources import CHECKOUT

BIN = Path(sys.executable).parent
PLAY = [{"hosts": "balancer", "roles": ["dataplane.sidecar.dataplaneapi"], "gather_subset": ["min"]}]


class Playbook:
    """A playbook in a directory that runs the role with these variables."""

    def __init__(self, directory: Path, machine: Machine, **variables: Any) -> None:
        self._directory, self._machine, self._variables = directory, machine, variables
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
        (directory / "play.yml").write_text(json.dumps(PLAY))

    def run(self, *words: str, fails: bool = False, **variables: Any) -> tuple[str, dict[str, int]]:
        """Run the playbook, and return its output and the numbers of its recap. With `fails`, it must fail."""
        host = {
            "ansible_connection": "inside",
            "inside_leader": self._machine.leader,
            "ansible_python_interpreter": "/usr/bin/python3",
            **self._variables,
            **variables,
        }
        inventory = self._directory / "inventory.yml"
        inventory.write_text(json.dumps({"all": {"hosts": {"balancer": host}}}))
        output = self._ansible("ansible-playbook", "-i", str(inventory), str(self._directory / "play.yml"), *words, fails=fails)
        (recap,) = re.findall(r"^balancer +: (.*)$", output, re.MULTILINE)
        return output, {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", recap)}

    def _ansible(self, *words: str, fails: bool = False) -> str:
        done = subprocess.run(words, cwd=self._directory, env=self._environment, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) is fails, done.stdout + done.stderr + self._machine.journal()
        return done.stdout
