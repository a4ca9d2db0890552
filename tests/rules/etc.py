"""Let a test fail that reads a file in /etc, except for those that Python and its resolver read. A plugin of pytest."""

import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

EVENTS = ("open", "os.listdir", "os.scandir")
# The permitted files: time zone, certificate authorities, and names of hosts and users.
OF_PYTHON = (
    "/etc/localtime",
    "/etc/ssl/",
    "/etc/pki/",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/mime.types",
    "/etc/apache2/",
)
_read: list[str] = []


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    if event in EVENTS and isinstance(arguments[0], str | bytes | os.PathLike):
        path = os.fsdecode(arguments[0])
        if path.startswith("/etc/") and not path.startswith(OF_PYTHON):
            _read.append(path)


sys.addaudithook(_notice)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    _read.clear()
    result = yield
    assert not _read, f"the test reads {', '.join(_read)}"
    return result
