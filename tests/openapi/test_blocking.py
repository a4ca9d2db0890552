"""Check that the stub of the blocking objects declares the same as the asynchronous objects, without `async`."""

from pathlib import Path

from openapi.blocking import HEAD, stub

MODULE = '''\
from contextlib import asynccontextmanager
from a import Kept, Used, left_out

class ConfigurationChange: ...

class HAProxy:
    """One; use `async with`."""
    name: str
    def __init__(self, engine): ...
    async def _own(self) -> left_out: ...
    @property
    def version(self) -> int: ...
    async def read(self, key: str = "") -> Used: ...
    @asynccontextmanager
    async def change(self) -> AsyncIterator[ConfigurationChange]: ...

@asynccontextmanager
async def open(file: Kept) -> AsyncIterator[HAProxy]: ...
'''
STUB = f'''\
{HEAD}

from a import Kept
from a import Used
from contextlib import AbstractContextManager
from haproxy_native.objects.haproxy import ConfigurationChange

class HAProxy:
    """One; use `with`."""
    name: str

    @property
    def version(self) -> int:
        ...

    def read(self, key: str='') -> Used:
        ...

    def change(self) -> AbstractContextManager[ConfigurationChange]:
        ...

def open_sync(file: Kept) -> AbstractContextManager[HAProxy]:
    ...
'''


def test_what_is_awaited_is_returned(tmp_path: Path) -> None:
    for name in ("running", "stored"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "haproxy.py").write_text(MODULE)
    assert stub(tmp_path) == STUB
