"""Starts a command as a service manager would: listening sockets from descriptor 3 on, named in variables."""

import subprocess
import sys
from collections.abc import Sequence
from socket import socket
from typing import Any

_START = """
import fcntl, os, sys
held, words = [int(each) for each in sys.argv[1].split(",")], sys.argv[2:]
spare = [fcntl.fcntl(each, fcntl.F_DUPFD, 100) for each in held]
for wanted, each in enumerate(spare, 3):
    os.dup2(each, wanted)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execvp(words[0], words)
"""


def start(words: Sequence[str], sockets: Sequence[socket], environment: dict[str, str], **named: Any) -> subprocess.Popen[str]:
    """`named` goes to Popen; what speaks of sockets in the environment is added here. Without sockets: just the command."""
    if not sockets:
        return subprocess.Popen(list(words), env=environment, text=True, **named)
    held = [each.fileno() for each in sockets]
    listen = {"LISTEN_FDS": str(len(held)), "LISTEN_FDNAMES": ":".join("dataplaneapi.socket" for _ in held)}
    command = [sys.executable, "-c", _START, ",".join(map(str, held)), *words]
    return subprocess.Popen(command, pass_fds=held, env={**listen, **environment}, text=True, **named)
