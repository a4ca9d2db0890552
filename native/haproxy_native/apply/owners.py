"""Who owns which members of which objects, and the file that keeps it beside the configuration, never in it."""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.editing.object_names import renamed
from haproxy_native.errors import Unusable

log = logging.getLogger(__name__)
# The member that stands for the object itself.
ITSELF = ""
# By object and member, the digest of the value that was declared last.
Claims = Mapping[str, Mapping[str, str]]


def digest(value: Any) -> str:
    """Of a value of JSON, in which contents of files are bytes."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_of_content)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _of_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_of(claim: str | None, value: Any) -> bool:
    """Whether a value is one that was declared: while a change is made there are two."""
    return claim is not None and digest(value) in claim.split(",")


@dataclass(frozen=True)
class Owners:
    """The claims of each owner. Immutable."""

    claims: Mapping[str, Claims] = field(default_factory=dict)

    def of(self, owner: str) -> Claims:
        return self.claims.get(owner, {})

    def others(self, owner: str, object_: str, member: str) -> list[str]:
        """Other owners of a member."""
        return [other for other, claims in self.claims.items() if other != owner and member in claims.get(object_, {})]

    def within(self, owner: str, object_: str) -> Iterator[tuple[str, str]]:
        """Other owners of an object, or of what stands in it, and what each owns."""
        for other, claims in self.claims.items():
            if other != owner:
                yield from ((other, each) for each in claims if each == object_ or each.startswith(f"{object_}/"))

    def renamed(self, object_: str, to: str) -> "Owners":
        """With the claims to an object, and to what stands in it, under its other name."""
        claims = {owner: {renamed(each, object_, to): held for each, held in known.items()} for owner, known in self.claims.items()}
        return Owners(claims)

    def joined(self, other: "Owners") -> "Owners":
        return Owners({owner: {**self.of(owner), **other.of(owner)} for owner in {**self.claims, **other.claims}})

    def with_claims(self, owner: str, claims: Claims, taken: Mapping[str, set[tuple[str, str]]]) -> "Owners":
        """Those of one owner in the place of its former ones; without the (object, member) that are `taken` from others."""
        others = {other: _without(held, taken.get(other, set())) for other, held in self.claims.items() if other != owner}
        return Owners({name: held for name, held in {**others, owner: claims}.items() if held})


def _without(claims: Claims, taken: set[tuple[str, str]]) -> Claims:
    left = {
        object_: {member: value for member, value in held.items() if (object_, member) not in taken} for object_, held in claims.items()
    }
    return {object_: held for object_, held in left.items() if held}


class OwnerFile:
    """`owners` as they are on the disk. A file that cannot be read raises Unusable: what is owned would be taken for what nobody owns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._owners: Owners | None = None

    @property
    def owners(self) -> Owners:
        if self._owners is None:
            try:
                self._owners = Owners(json.loads(self._path.read_bytes())["owners"])
            except FileNotFoundError:
                self._owners = Owners()
            except (OSError, ValueError, KeyError) as error:
                raise Unusable(
                    f"cannot read the owners: {self._path}: {error}; restore it, or delete it to begin without owners"
                ) from error
        return self._owners

    def write(self, owners: Owners) -> None:
        """Raises Unusable."""
        try:
            write_atomically(self._path, json.dumps({"owners": owners.claims}, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise Unusable(f"cannot write the owners to {self._path}: {error.strerror}") from error
        self._owners = owners
