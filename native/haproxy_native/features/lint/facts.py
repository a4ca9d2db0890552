"""What is known of the files that a configuration names; native/haproxy_native/features/lint/gathering.py looks at them. Pure."""

from collections.abc import Mapping, Sequence
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
    """What a lint knows beyond the document. `directory`: that of the main file, where relative paths begin."""

    directory: str = "/"
    now: datetime | None = None
    # By path; empty if no file was read.
    files: Mapping[str, File] = field(default_factory=dict)
    # Paths of stored files that nothing names.
    unused: Sequence[str] = ()
    # Backends that splits and service discovery use, whether or not a line names them.
    used_backends: frozenset[str] = frozenset()
