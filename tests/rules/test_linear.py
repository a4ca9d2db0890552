"""Patterns that search in what clients send take linear time, whatever stands there: a search holds up everybody."""

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
LARGE = 1 << 17
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
    """Otherwise this takes hours: the limit of a test's time ends it."""
    SEARCHES[what](unit * (LARGE // len(unit)))
