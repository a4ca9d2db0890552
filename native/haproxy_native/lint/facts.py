"""What is known of the files that a configuration names; native/haproxy_native/lint/gathering.py looks at them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class File:
    """`files` of a directory, or of a list of certificates: paths. `ends`: when its certificate does. `text`: of a map."""

    is_there: bool
    mode: int = 0
    holds_key: bool = False
    ends: datetime | None = None
    files: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True)
class Facts:
    """`files` by path; empty where none was looked at. `directory`: that of the main file, where relative paths begin."""

    directory: str = "/"
    now: datetime | None = None
    files: Mapping[str, File] = field(default_factory=dict)
