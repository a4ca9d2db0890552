"""Run `dataplaneapi` of a checkout and record what one request executes. bench/trace.py starts it, as

    CHECKOUT/.venv/bin/python -P bench/traced.py CHECKOUT SOCKET OPTION...

Names of functions that arrive through SOCKET start a trace; the next message ends it, and the reply is the calls and which of the names the
checkout has. This module imports the standard library alone, so that it runs with any state of the project.
"""

import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from importlib.metadata import entry_points
from multiprocessing.connection import Listener
from types import FrameType
from typing import Any, NamedTuple

SYSTEM = (os.stat, os.lstat, os.fstat, os.fsync, os.fdatasync, os.rename, os.replace)
# Parts of functions, for some of which Python has frames up to 3.11 only.
PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# The number of a trace, and how deep its request is in own code. A task, and the work of a pool of threads, continue that of their creator.
place: ContextVar[tuple[int, int]] = ContextVar("place", default=(0, 0))


class Call(NamedTuple):
    """One call of an own function, or of the system by own code, which has no `file`.

    `stack` counts the own frames below it in its thread; `depth` counts itself and all that wait for it, in any thread, from the socket on.
    Work of timers and of other requests has no depth. `given`: the texts and lists that a function with one of the names was called with.
    """

    name: str
    caller: str
    stack: int
    depth: int
    thread: int
    file: str = ""
    line: int = 0
    given: tuple[Any, ...] = ()


class Recorder:
    """Notes calls between `start` and `stop`."""

    def __init__(self, checkout: str) -> None:
        self._checkout, self._roots = f"{checkout}/", (f"{checkout}/app/", f"{checkout}/native/")
        self._names: frozenset[str] = frozenset()
        self._calls: list[Call] = []
        self._number, self._is_on = 0, False

    def start(self, names: frozenset[str]) -> None:
        self._names, self._calls, self._number, self._is_on = names, [], self._number + 1, True

    def stop(self) -> tuple[list[Call], set[str]]:
        """Return the calls, and which of the names the checkout has."""
        self._is_on = False
        return self._calls, {name for name in self._names if self._has(name)}

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not self._is_on or code.co_name in PARTS or event not in ("call", "return", "c_call"):
            return
        if event == "call" and code.co_name == "data_received" and b"PUT /" in (frame.f_locals.get("data") or b""):
            place.set((self._number, 0))
        if event == "c_call":
            if any(argument is function for function in SYSTEM):
                self.note(f"os.{argument.__name__}", frame)
        elif code.co_filename.startswith(self._roots):
            number, depth = place.get()
            place.set((number, depth + 1 if event == "call" else depth - 1))
            # A coroutine or a generator that goes on is not called.
            if event == "call" and code.co_code[frame.f_lasti + 1] & 3 == 0:
                is_named = not self._names.isdisjoint((code.co_name, code.co_qualname))
                given = tuple(value for value in frame.f_locals.values() if is_named and isinstance(value, str | bytes | list | tuple))
                file = code.co_filename.removeprefix(self._checkout)
                self._add(code.co_qualname, self._stack(frame.f_back), 0, file, code.co_firstlineno, given)

    def note(self, name: str, frame: FrameType, *given: str) -> None:
        """Note what the system does for own code."""
        if self._is_on and (stack := self._stack(frame)):
            self._add(name, stack, 1, "", 0, given)

    def _add(self, name: str, stack: list[str], below: int, *more: Any) -> None:
        number, depth = place.get()
        depth = depth + below if number == self._number else 0
        self._calls.append(Call(name, stack[0] if stack else "", len(stack), depth, threading.get_ident(), *more))

    def _stack(self, frame: FrameType | None) -> list[str]:
        names = []
        while frame:
            if frame.f_code.co_filename.startswith(self._roots) and frame.f_code.co_name not in PARTS:
                names.append(frame.f_code.co_qualname)
            frame = frame.f_back
        return names

    def _has(self, name: str) -> bool:
        """Return whether a loaded module has a function, or any class of it a method, of this name."""
        modules = [module for module in [*sys.modules.values()] if (getattr(module, "__file__", None) or "").startswith(self._roots)]
        classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
        *owner, own = name.split(".")
        return any(own in vars(each) for each in ([c for c in classes if [c.__name__] == owner] if owner else [*modules, *classes]))

    def serve(self, socket: str) -> None:
        with suppress(EOFError), Listener(socket) as listener, listener.accept() as control:
            while True:
                self.start(control.recv())
                control.send(None)
                control.recv()
                calls, known = self.stop()
                # Plain, as this module has another name there.
                control.send(([tuple(call) for call in calls], known))


def main() -> None:
    class Traced(sqlite3.Connection):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.set_trace_callback(lambda text: recorder.note(text, sys._getframe()) if text == "COMMIT" else None)

    def submitted(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        def placed() -> Any:
            place.set(there)
            return work(*arguments, **named)

        there = place.get()
        return submit(pool, placed)

    _, checkout, socket, *options = sys.argv
    recorder, submit = Recorder(checkout), ThreadPoolExecutor.submit
    ThreadPoolExecutor.submit = submitted  # type: ignore[method-assign, assignment]
    # Of parts that connect, and of those that have a class of their own.
    sqlite3.connect = partial(sqlite3.connect, factory=Traced)  # type: ignore[assignment]
    sqlite3.Connection = Traced  # type: ignore[misc]
    sys.addaudithook(
        lambda event, given: recorder.note(event, sys._getframe(), *map(str, given[1])) if event == "subprocess.Popen" else None
    )
    threading.Thread(target=recorder.serve, args=(socket,), daemon=True).start()
    threading.setprofile(recorder.profile)
    sys.setprofile(recorder.profile)
    sys.argv = ["dataplaneapi", *options]
    next(iter(entry_points(group="console_scripts", name="dataplaneapi"))).load()()


if __name__ == "__main__":
    main()
