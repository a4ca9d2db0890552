"""Tests that await."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any


def finished(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test, which returns when its coroutine does."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        asyncio.run(test(*given, **named))

    return run
