"""Who owns which members of which objects, and the table that stores this. The configuration file contains none of it.

A claim is the digest of the value that an owner declared last. A committed change may still be rolled back, because its reload fails or
nobody confirms it. Until that is decided, the claims that the change replaced are stored as `FormerClaims`, the oldest first, each with the
`AwaitedOutcome` that decides. Meanwhile the owner has both, the new and the former claims. `Owners.settled` drops or restores former claims
as soon as their outcome is known.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing.object_names import renamed
from haproxy_native.errors import Missing, Unusable
from haproxy_native.reload.records import IN_PROGRESS, SUCCEEDED, Records

TABLES = Tables("owners", "CREATE TABLE owner (name TEXT PRIMARY KEY, claims TEXT NOT NULL, former TEXT NOT NULL)")
# The member that stands for the object itself.
ITSELF = ""
# By object and member, the digest of the value that was declared last.
Claims = Mapping[str, Mapping[str, str]]
# How many former claims of one owner are stored.
MOST_FORMER = 4


def digest(value: Any) -> str:
    """Return the digest of a JSON value, in which contents of files are bytes."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_of_content)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _of_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_of(claim: str | None, value: Any) -> bool:
    """Return whether a claim has the digest of a value, with or without comments.

    While a change is undecided, a claim has several digests, separated by commas.
    """
    return claim is not None and not {digest(value), digest(without_comments(value))}.isdisjoint(claim.split(","))


def is_same(there: Any, declared: Any) -> bool:
    """Return whether a present value equals the declared one. Comments on the lines of a list count only if they are declared."""
    return declared in (there, without_comments(there))


def without_comments(value: Any) -> Any:
    """Return a list without the comments on its lines."""
    return [_without_comment(row) if isinstance(row, dict) else row for row in value] if isinstance(value, list) else value


def _without_comment(row: dict[str, Any]) -> dict[str, Any]:
    shown = row.get("metadata")
    return {name: each for name, each in row.items() if name != "metadata"} if isinstance(shown, dict) and [*shown] == ["comment"] else row


@dataclass(frozen=True)
class AwaitedOutcome:
    """What decides whether a change stays: the `reload` that loads its `version`, and its `confirmation`; ids, each empty if there is none.

    If both are empty, the commit is in progress, or a kill interrupted it.
    """

    reload: str = ""
    confirmation: str = ""
    version: int = 0


AT_WORK = AwaitedOutcome()


@dataclass(frozen=True)
class FormerClaims:
    """Claims that were replaced by a change that may still be rolled back."""

    claims: Claims
    wait: AwaitedOutcome


@dataclass(frozen=True)
class Owners:
    """The claims of each owner, and its former claims, the oldest first. Immutable."""

    claims: Mapping[str, Claims] = field(default_factory=dict)
    former: Mapping[str, Sequence[FormerClaims]] = field(default_factory=dict)

    def of(self, owner: str) -> Claims:
        """Return the claims of an owner, merged with the former claims that a rollback may restore."""
        found = self.claims.get(owner, {})
        for each in reversed(self.former.get(owner, ())):
            found = _both(each.claims, found)
        return found

    def replacing(self, former: "Owners", wait: AwaitedOutcome) -> "Owners":
        """Return these owners, with the claims of `former` that they replace as former claims. `wait` decides which ones stay valid."""
        found = dict(self.former)
        for owner in dict.fromkeys([*former.claims, *self.claims]):
            before = former.claims.get(owner, {})
            if before != self.claims.get(owner, {}):
                first, *others = *found.get(owner, ()), FormerClaims(before, wait)
                found[owner] = (first, *others[1 - MOST_FORMER :])
        return Owners(self.claims, found)

    def settled(self, lasts: Callable[[AwaitedOutcome], bool | None]) -> "Owners":
        """Return the owners without the former claims whose outcome is known. If a change was rolled back, its former claims are restored.

        `lasts` returns whether a change stays; None while that is undecided.
        """
        found = self
        for owner in self.former:
            found = found._settled(owner, lasts)
        return found

    def _settled(self, owner: str, lasts: Callable[[AwaitedOutcome], bool | None]) -> "Owners":
        """Settle one owner. After a rollback, later claims also get the digests from before it: the later change may have restored them."""
        former, last = list(self.former[owner]), self.claims.get(owner, {})
        while former and (stays := lasts(former[0].wait)) is not None:
            gone = former.pop(0)
            if stays:
                continue
            last = _known_both(gone.claims, last) if former else gone.claims
            former[1:] = [replace(each, claims=_known_both(gone.claims, each.claims)) for each in former[1:]]
            former[:1] = [replace(each, claims=gone.claims) for each in former[:1]]
        if len(former) == len(self.former[owner]):
            return self
        return Owners(_with(self.claims, owner, last), _with(self.former, owner, tuple(former)))

    def undecided(self) -> "Owners":
        """Return the owners after a restart. A commit that was in progress may or may not have been made, so both claims are valid."""
        found = self
        for owner in [owner for owner, former in self.former.items() if any(each.wait == AT_WORK for each in former)]:
            found = Owners(_with(found.claims, owner, found.of(owner)), _with(found.former, owner, ()))
        return found

    def others(self, owner: str, object_: str, member: str) -> list[str]:
        """Return the other owners of a member."""
        return [other for other, claims in self.claims.items() if other != owner and member in claims.get(object_, {})]

    def within(self, owner: str, object_: str) -> Iterator[tuple[str, str]]:
        """Yield each other owner of an object or of something in it, with the object that it owns."""
        for other, claims in self.claims.items():
            if other != owner:
                yield from ((other, claim) for claim in claims if claim == object_ or claim.startswith(f"{object_}/"))

    def renamed(self, object_: str, to: str) -> "Owners":
        """Return the owners after an object was renamed, with the claims to it and to its contents under the new name."""
        return replace(self, claims={owner: _renamed(known, object_, to) for owner, known in self.claims.items()})

    def with_claims(self, owner: str, claims: Claims, taken: Mapping[str, set[tuple[str, str]]]) -> "Owners":
        """Return the owners with one owner's claims replaced. `taken` has the pairs of object and member that other owners lose."""
        others = {other: _without(held, taken.get(other, set())) for other, held in self.claims.items() if other != owner}
        return Owners({name: held for name, held in {**others, owner: claims}.items() if held}, self.former)


def _renamed(claims: Claims, object_: str, to: str) -> Claims:
    return {renamed(each, object_, to): held for each, held in claims.items()}


def _with(known: Mapping[str, Any], owner: str, value: Any) -> dict[str, Any]:
    return {name: each for name, each in {**known, owner: value}.items() if each}


def _both(former: Claims, now: Claims) -> Claims:
    """Return the union of two claims. A member in both has the digests of both."""
    return {each: {**former.get(each, {}), **held} for each, held in {**former, **_known_both(former, now)}.items()}


def _known_both(former: Claims, now: Claims) -> Claims:
    """Return the claims of `now`, with the digests of `former` added to its members."""
    return {object_: _digests(former.get(object_, {}), held) for object_, held in now.items()}


def _digests(former: Mapping[str, str], now: Mapping[str, str]) -> Mapping[str, str]:
    both = {member: (*former.get(member, "").split(","), *digest_.split(",")) for member, digest_ in now.items()}
    return {member: ",".join(filter(None, dict.fromkeys(digests))) for member, digests in both.items()}


def _without(claims: Claims, taken: set[tuple[str, str]]) -> Claims:
    if not taken:
        return claims
    left = {
        object_: {member: value for member, value in held.items() if (object_, member) not in taken} for object_, held in claims.items()
    }
    return {object_: held for object_, held in left.items() if held}


class OwnerTable:
    """The table of owners in the database. If it cannot be read, `owners` raises Unusable, since owned objects must not seem free."""

    def __init__(self, database: Database) -> None:
        database.declare(TABLES)
        self._database = database
        self._stored: Owners | None = None
        self._owners = Owners()
        with suppress(Unusable):
            self._read()

    @property
    def owners(self) -> Owners:
        if self._stored is None:
            self._read()
        return self._owners

    def note(self, owners: Owners) -> None:
        """Replace the owners in memory alone. They must follow from the stored ones, as settled owners do."""
        self._owners = owners

    async def write(self, owners: Owners) -> None:
        """Replace the owners; they are on disk when this returns. Raises Unusable."""
        await self._database.store(partial(_store, self._stored or Owners(), owners))
        self._owners = self._stored = owners

    def _read(self) -> None:
        self._stored = self._database.read(_read)
        self._owners = self._stored.undecided()


def _read(state: State) -> Owners:
    rows = [(owner, json.loads(claims), json.loads(former)) for owner, claims, former in state.execute("SELECT * FROM owner")]
    former = {
        owner: tuple(FormerClaims(each["claims"], AwaitedOutcome(**each["wait"])) for each in former) for owner, _, former in rows if former
    }
    return Owners({owner: claims for owner, claims, _ in rows if claims}, former)


def _store(before: Owners, after: Owners, state: State) -> None:
    """Replace the rows of the owners that differ."""
    rows, former = ({owner: _row(owners, owner) for owner in (*owners.claims, *owners.former)} for owners in (after, before))
    with state.transaction():
        state.executemany("DELETE FROM owner WHERE name = ?", [(owner,) for owner in former if owner not in rows])
        changed = [(owner, *row) for owner, row in rows.items() if row != former.get(owner)]
        state.executemany("INSERT OR REPLACE INTO owner VALUES (?, ?, ?)", changed)


def _row(owners: Owners, owner: str) -> tuple[str, str]:
    former = [{"claims": each.claims, "wait": asdict(each.wait)} for each in owners.former.get(owner, ())]
    return json.dumps(owners.claims.get(owner, {})), json.dumps(former)


@dataclass(frozen=True)
class Outcomes:
    """Finds out from reloads and confirmations whether a change stays or was rolled back."""

    records: Records
    confirmed: Callable[[str], bool | None]

    def lasts(self, wait: AwaitedOutcome) -> bool | None:
        """Return whether a change stays; None while it is undecided."""
        if wait == AT_WORK:
            return None
        found = [self._is_loaded(wait.reload, wait.version)] if wait.reload else []
        found += [self.confirmed(wait.confirmation)] if wait.confirmation else []
        return False if False in found else None if None in found else True

    def _is_loaded(self, reload_id: str, version: int) -> bool | None:
        """Return whether a reload has loaded a version; None while it is in progress. True if its record is deleted already."""
        try:
            record = self.records.get(reload_id)
        except Missing:
            return True
        if record.status == IN_PROGRESS:
            return None
        if record.status != SUCCEEDED and record.keeps(version) and record.rest_reload_id:
            return self._is_loaded(record.rest_reload_id, version)
        return record.status == SUCCEEDED or record.keeps(version)
