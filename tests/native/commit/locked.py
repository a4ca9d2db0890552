"""What is awaited while the locks of commits are held."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from haproxy_native.engine import Engine
from haproxy_native.runtime.socket import Socket

NAMES = {"stored_lock": "files", "lock": "configuration", "process_lock": "process"}


class Watched(asyncio.Lock):
    """A lock that knows its name; tasks that are begun under it count as under it until it is released."""

    held: ContextVar[tuple["Watched", ...]] = ContextVar("held", default=())

    def __init__(self, name: str, order: list[tuple[str, ...]]) -> None:
        super().__init__()
        self.name, self._order = name, order

    async def acquire(self) -> Any:
        self._order.append((*names_held(), self.name))
        result = await super().acquire()
        self.held.set((*self.held.get(), self))
        return result

    def release(self) -> None:
        self.held.set(tuple(lock for lock in self.held.get() if lock is not self))
        super().release()


def names_held() -> tuple[str, ...]:
    return tuple(lock.name for lock in Watched.held.get() if lock.locked())


class Awaited:
    """By the names of the locks that are held: functions in threads, and first words of commands; `order`: how locks were taken."""

    def __init__(self) -> None:
        self.threads: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self.commands: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self.order: list[tuple[str, ...]] = []


@contextmanager
def watched(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Awaited]:
    awaited = Awaited()
    for member, name in NAMES.items():
        monkeypatch.setattr(engine.context, member, Watched(name, awaited.order))
    loop = asyncio.get_running_loop()
    in_executor = loop.run_in_executor

    def recorded(executor: Any, function: Callable[..., Any], *given: Any) -> Any:
        if names_held():
            awaited.threads[names_held()].add(_named(function, given))
        return in_executor(executor, function, *given)

    monkeypatch.setattr(loop, "run_in_executor", recorded)
    answer = Socket._answer

    async def asked(self: Socket, request: bytes, commands: Any, sink: Any = None) -> str:
        if names_held():
            awaited.commands[names_held()].update(" ".join(command.split()[:2]) for command in commands)
        return await answer(self, request, commands, sink)

    monkeypatch.setattr(Socket, "_answer", asked)
    yield awaited


def _named(function: Any, given: Any) -> str:
    """Of what is run in the end."""
    while True:
        if isinstance(function, partial):
            function, given = function.func, (*function.args, *given)
        elif getattr(function, "__name__", "") in ("run", "_work", "_write", "_contained") and given:
            function, *given = given
        elif getattr(function, "__name__", "") == "run_abandonable":
            _, function, *given = given
        else:
            break
    module = getattr(function, "__module__", "?").rpartition(".")[2]
    return f"{module}.{function.__qualname__.partition('.<locals>')[0]}"
