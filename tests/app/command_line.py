"""Commands called in the process of the tests: the start of an interpreter of their own costs more than all that they do."""

import io
import subprocess
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout

import pytest


def call_main(main: Callable[[Sequence[str]], object], *argv: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the main function of a command with `text` as its standard input, and return what a process of it would have ended with."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
        with pytest.raises(SystemExit) as ended:
            main(argv)
    printed, said = (stream.buffer.getvalue().decode() for stream in (output, errors))  # type: ignore[attr-defined]
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(argv, ended.value.code, printed, said)
