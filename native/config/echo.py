"""A request's body as it now stands in the file: what was quoted on the way in is shown quoted."""

from typing import Any

from native.text.words import split, unquoted


def as_it_stands(body: Any, stored: Any) -> Any:
    """The body with each text replaced by the stored one where the two differ in quoting alone."""
    if isinstance(body, dict) and isinstance(stored, dict):
        return {name: as_it_stands(value, stored.get(name)) for name, value in body.items()}
    if isinstance(body, list) and isinstance(stored, list) and len(body) == len(stored):
        return [as_it_stands(each, other) for each, other in zip(body, stored, strict=True)]
    if isinstance(body, str) and isinstance(stored, str) and body != stored and _meant(stored) == " ".join(body.split()):
        return stored
    return body


def _meant(stored: str) -> str:
    """The text without its quotes, blanks collapsed."""
    return " ".join(" ".join(unquoted(word) for word in split(stored).words).split())
