"""Measure `dataplaneapi ctl` up to its first byte sent, and the import of the modules that it needs at least."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

IMPORTS = "import argparse, http.client, json, ssl"
COMMAND = Path(sys.executable).with_name("dataplaneapi")
ROWS = ("ctl, first byte", "import of ctl's modules")
# Of each, in turn, so that what else the machine does falls on both.
TIMES = 31


def of_ctl(times: int = TIMES) -> dict[str, float]:
    """Medians in seconds."""
    sent, imported = [], []
    with socket.create_server(("127.0.0.1", 0)) as server:
        first_byte(server)
        for _ in range(times):
            sent.append(first_byte(server))
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", IMPORTS], check=True)
            imported.append(time.perf_counter() - begin)
    return dict(zip(ROWS, (median(sent), median(imported)), strict=True))


def first_byte(server: socket.socket) -> float:
    """Seconds from the start of a call to its first byte at a server, which then hangs up."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DATAPLANECTL_")}
    environment |= {"DATAPLANECTL_URL": f"http://127.0.0.1:{server.getsockname()[1]}"}
    begin = time.perf_counter()
    with subprocess.Popen([str(COMMAND), "ctl", "get", "backend"], env=environment, stderr=subprocess.DEVNULL) as process:
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            taken = time.perf_counter() - begin
        process.wait()
    return taken
