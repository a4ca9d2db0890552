"""Patterns that search in what clients send take linear time, whatever stands there: a search holds up everybody."""

import time
from collections.abc import Callable

import pytest

from haproxy_native.editing.secrets import masked_lines, masked_text
from haproxy_native.references import lookups, pattern
from haproxy_native.storage.key_material import is_secret

# Beginnings without an end.
UNITS = [
    "\n",
    " ",
    "a",
    "a(",
    "'",
    '"',
    "' ",
    "%[",
    '%["',
    "%['",
    ": user a ",
    "user a ",
    "' x at line 1 of file '",
    "\\",
    "setenv a ",
    "hmac(",
    "hmac(a,",
]
SEARCHES: dict[str, Callable[[str], object]] = {
    "secrets of lines": masked_lines,
    "secrets of messages": masked_text,
    "expressions": lookups._EXPRESSION.findall,
    "calls": lambda text: list(pattern._CALL.finditer(text)),
    "keys": lambda text: is_secret(text.encode()),
}


@pytest.mark.parametrize("what", SEARCHES)
@pytest.mark.parametrize("unit", UNITS)
def test_it_takes_linear_time(what: str, unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        SEARCHES[what](text)
        return time.process_time() - began

    # Other work on the machine makes single measurements wrong by a multiple.
    assert any(seconds(1 << 18) < 24 * seconds(1 << 15) + 0.3 for _ in range(3))
