"""Patterns that search in texts of clients take linear time for any text, because a search delays all other requests."""

from collections.abc import Callable

import pytest

from haproxy_native.editing.secrets import masked_lines, masked_text
from haproxy_native.references import lookups, pattern
from haproxy_native.storage.secret_files import is_secret

# Texts that begin a match and do not end it.
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
    """A pattern that is not linear takes hours, and the time limit ends the test."""
    SEARCHES[what](unit * (LARGE // len(unit)))
