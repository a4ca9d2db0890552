"""Commands called in the process of the tests: the start of an interpreter of their own costs more than all that they do."""

import io
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from http.client import HTTPConnection
from unittest import mock

import pytest

from dataplaneapi.ctl.client import Client


def call_main(
    main: Callable[[Sequence[str]], object], *argv: str, text: str | bytes = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the main function of a command with `text` as its standard input, and return what a process of it would have ended with.

    Without an `environment` the command has that of the tests.
    """
    given = text.encode() if isinstance(text, str) else text
    stdin, output, errors = (io.TextIOWrapper(io.BytesIO(content), "utf-8", write_through=True) for content in (given, b"", b""))
    former, connect = signal.getsignal(signal.SIGTERM), Client._connect
    connections: list[HTTPConnection] = []

    def remembered(client: Client) -> HTTPConnection:
        connections.append(connect(client))
        return connections[-1]

    try:
        with (
            mock.patch.object(Client, "_connect", remembered),
            mock.patch("sys.stdin", stdin),
            redirect_stdout(output),
            redirect_stderr(errors),
            mock.patch.dict(os.environ, environment or os.environ, clear=True),
            pytest.raises(SystemExit) as ended,
        ):
            main(list(argv))
    finally:
        signal.signal(signal.SIGTERM, former)
        # What a process leaves open ends with it.
        for connection in connections:
            connection.close()
    printed, said = (stream.buffer.getvalue().decode() for stream in (output, errors))  # type: ignore[attr-defined]
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(argv, ended.value.code, printed, said)
