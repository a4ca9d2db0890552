"""Ansible's way into a booted machine: commands through nsenter, files through /proc."""

from __future__ import annotations

import shlex
import shutil
from typing import Any

from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: inside
short_description: into a container by the pid of its first process
description: Runs commands by nsenter and copies files through /proc.
author: The Dataplane sidecar's authors
options:
  leader:
    description: pid of the first process of the machine
    vars: [{name: inside_leader}]
    type: int
    required: true
  pipelining:
    description: whether modules are sent through a pipe
    vars: [{name: ansible_pipelining}]
    type: bool
    default: true
"""


class Connection(Local):
    """A machine whose first process is `leader`."""

    transport = "inside"

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        words = ["nsenter", "--target", str(self.get_option("leader")), "--all", "/bin/sh", "-c", cmd]
        return super().exec_command(shlex.join(words), in_data, sudoable)

    def put_file(self, in_path: str, out_path: str) -> None:
        shutil.copyfile(in_path, self._inside(out_path))

    def fetch_file(self, in_path: str, out_path: str) -> None:
        shutil.copyfile(self._inside(in_path), out_path)

    def _inside(self, path: str) -> str:
        return f"/proc/{self.get_option('leader')}/root{path}"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.default_user = "root"
