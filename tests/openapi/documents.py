"""Bundle the document once for all tests of a process. The tests must not change it."""

from functools import cache
from typing import Any

from openapi import bundle


@cache
def document(*, everything: bool = False) -> dict[str, Any]:
    return bundle.document(everything=everything)
