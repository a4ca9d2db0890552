"""Metadata of an object: JSON in the comment behind its line. Any other comment is a person's, and only shown as metadata."""

import json
from collections.abc import Mapping
from typing import Any

from haproxy_native.errors import BadValue, Place

METADATA = "metadata"


def read_metadata(comment: str | None) -> dict[str, Any] | None:
    """A comment as metadata: its JSON object, else the text as its `comment` member."""
    if not comment:
        return None
    return members if (members := _json_object(comment)) is not None else {"comment": comment}


def is_metadata(comment: str | None) -> bool:
    """Whether a comment was written as metadata, and not by a person."""
    return comment is not None and _json_object(comment) is not None


def _json_object(comment: str) -> dict[str, Any] | None:
    try:
        value = json.loads(comment) if comment.startswith("{") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def write_metadata(metadata: Any) -> str | None:
    """The comment that carries metadata, keys sorted and compact; None without any."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise BadValue("metadata in body must be an object", place=Place(member=METADATA))
    text = json.dumps(metadata, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
