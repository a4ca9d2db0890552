"""Record which owner has declared which members of which objects, in the database. The configuration file contains none of this.

A claim is the digest of the value that an owner declared last for a member. It tells who owns the member, and whether anybody has changed
the value since.

A committed change may still be rolled back, because its reload fails or nobody confirms it. Until its outcome is known, the claims that it
replaced are stored as `FormerClaims`, the oldest first, each with the `AwaitedOutcome` that decides. Meanwhile both the new and the former
claims are valid (`Owners.claims_of`), so the values of both configurations count as the owner's. `Owners.settled` then drops the former
claims, or restores them after a rollback.

A crash during a commit leaves former claims with the outcome IN_COMMIT. The next process does not know whether the commit was made, so it
merges them into the claims (`Owners.after_restart`).
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
# Stands for the object itself where a member is expected.
ITSELF = ""
# The digest of the value that was declared last, by object and member.
Claims = Mapping[str, Mapping[str, str]]
# How many former claims of one owner are stored: the oldest, and the last of the others.
MOST_FORMER = 4


def digest(value: Any) -> str:
    """Return the digest of a JSON value that may contain bytes, for contents of files."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_content_digest)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_claimed(claim: str | None, value: Any) -> bool:
    """Return whether a claim is for this value, with or without comments.

    A claim has several digests, separated by commas, while the outcome of a change is unknown.
    """
    return claim is not None and not {digest(value), digest(without_comments(value))}.isdisjoint(claim.split(","))


def equals_declared(there: Any, declared: Any) -> bool:
    """Return whether a present value equals the declared one. If the declared one has no comments, those of the present one are ignored."""
    return declared in (there, without_comments(there))


def without_comments(value: Any) -> Any:
    """Return a list without the comments of its rows, and any other value unchanged."""
    return [_without_comment(row) if isinstance(row, dict) else row for row in value] if isinstance(value, list) else value


def _without_comment(row: dict[str, Any]) -> dict[str, Any]:
    shown = row.get("metadata")
    return {name: each for name, each in row.items() if name != "metadata"} if isinstance(shown, dict) and [*shown] == ["comment"] else row


@dataclass(frozen=True)
class AwaitedOutcome:
    """What decides whether a change is permanent: its reload and its confirmation.

    If it has neither, its commit is in progress, or was interrupted by a crash.
    """

    # The ids of both; empty if there is none.
    reload: str = ""
    confirmation: str = ""
    # The version that the reload loads.
    version: int = 0


# The outcome of a commit in progress.
IN_COMMIT = AwaitedOutcome()


@dataclass(frozen=True)
class FormerClaims:
    """Claims that were replaced by a change that may still be rolled back."""

    claims: Claims
    awaited: AwaitedOutcome


@dataclass(frozen=True)
class Owners:
    """The claims of all owners, and their former claims, the oldest first. Immutable."""

    claims: Mapping[str, Claims] = field(default_factory=dict)
    former: Mapping[str, Sequence[FormerClaims]] = field(default_factory=dict)

    def claims_of(self, owner: str) -> Claims:
        """Return the valid claims of an owner: its present ones, merged with the former ones that a rollback may restore."""
        found = self.claims.get(owner, {})
        for each in reversed(self.former.get(owner, ())):
            found = _merged(each.claims, found)
        return found

    def replacing(self, former: "Owners", awaited: AwaitedOutcome) -> "Owners":
        """Return these owners, and as former claims those of `former` that differ. `awaited` decides which of the two stay valid."""
        found = dict(self.former)
        for owner in dict.fromkeys([*former.claims, *self.claims]):
            before = former.claims.get(owner, {})
            if before != self.claims.get(owner, {}):
                first, *others = *found.get(owner, ()), FormerClaims(before, awaited)
                found[owner] = (first, *others[1 - MOST_FORMER :])
        return Owners(self.claims, found)

    def settled(self, is_permanent: Callable[[AwaitedOutcome], bool | None]) -> "Owners":
        """Return the owners without the former claims whose outcome is known. Restores those of a change that was rolled back.

        `is_permanent` returns whether a change is permanent; None while that is unknown.
        """
        found = self
        for owner in self.former:
            found = found._settled(owner, is_permanent)
        return found

    def _settled(self, owner: str, is_permanent: Callable[[AwaitedOutcome], bool | None]) -> "Owners":
        """Settle one owner.

        If a change was rolled back that later changes followed, the claims of these get the former digests in addition: their configuration
        may have the former values again.
        """
        former, last = list(self.former[owner]), self.claims.get(owner, {})
        while former and (stays := is_permanent(former[0].awaited)) is not None:
            gone = former.pop(0)
            if stays:
                continue
            last = _with_former_digests(gone.claims, last) if former else gone.claims
            former[1:] = [replace(each, claims=_with_former_digests(gone.claims, each.claims)) for each in former[1:]]
            former[:1] = [replace(each, claims=gone.claims) for each in former[:1]]
        if len(former) == len(self.former[owner]):
            return self
        return Owners(_with_value(self.claims, owner, last), _with_value(self.former, owner, tuple(former)))

    def after_restart(self) -> "Owners":
        """Return the owners after a restart: for a commit that was in progress, the new claims merged with the former ones."""
        found = self
        for owner in [owner for owner, former in self.former.items() if any(each.awaited == IN_COMMIT for each in former)]:
            found = Owners(_with_value(found.claims, owner, found.claims_of(owner)), _with_value(found.former, owner, ()))
        return found

    def other_owners(self, owner: str, object_: str, member: str) -> list[str]:
        """Return the other owners of a member."""
        return [other for other, claims in self.claims.items() if other != owner and member in claims.get(object_, {})]

    def other_owners_within(self, owner: str, object_: str) -> Iterator[tuple[str, str]]:
        """Yield the other owners of an object and of the objects in it, each with the object that it owns."""
        for other, claims in self.claims.items():
            if other != owner:
                yield from ((other, claim) for claim in claims if claim == object_ or claim.startswith(f"{object_}/"))

    def renamed(self, object_: str, to: str) -> "Owners":
        """Return the owners with the claims to an object, and to the objects in it, under a new name."""
        return replace(self, claims={owner: _renamed(known, object_, to) for owner, known in self.claims.items()})

    def with_claims(self, owner: str, claims: Claims, taken: Mapping[str, set[tuple[str, str]]]) -> "Owners":
        """Return the owners with the claims of one owner replaced. `taken` has pairs of object and member that others lose, by owner."""
        others = {other: _without_members(theirs, taken.get(other, set())) for other, theirs in self.claims.items() if other != owner}
        return Owners({name: each for name, each in {**others, owner: claims}.items() if each}, self.former)


def _renamed(claims: Claims, object_: str, to: str) -> Claims:
    return {renamed(each, object_, to): members for each, members in claims.items()}


def _with_value(known: Mapping[str, Any], owner: str, value: Any) -> dict[str, Any]:
    return {name: each for name, each in {**known, owner: value}.items() if each}


def _merged(former: Claims, now: Claims) -> Claims:
    """Merge two claims. A member in both gets the digests of both."""
    return {each: {**former.get(each, {}), **members} for each, members in {**former, **_with_former_digests(former, now)}.items()}


def _with_former_digests(former: Claims, now: Claims) -> Claims:
    """Return the claims of `now`, with the digests of `former` added to its members."""
    return {object_: _digests(former.get(object_, {}), members) for object_, members in now.items()}


def _digests(former: Mapping[str, str], now: Mapping[str, str]) -> Mapping[str, str]:
    both = {member: (*former.get(member, "").split(","), *digest_.split(",")) for member, digest_ in now.items()}
    return {member: ",".join(filter(None, dict.fromkeys(digests))) for member, digests in both.items()}


def _without_members(claims: Claims, taken: set[tuple[str, str]]) -> Claims:
    if not taken:
        return claims
    left = {
        object_: {member: value for member, value in members.items() if (object_, member) not in taken}
        for object_, members in claims.items()
    }
    return {object_: members for object_, members in left.items() if members}


class OwnerTable:
    """The owners, in memory and in the database."""

    def __init__(self, database: Database) -> None:
        database.declare(TABLES)
        self._database = database
        self._stored: Owners | None = None
        self._owners = Owners()
        with suppress(Unusable):
            self._read()

    @property
    def owners(self) -> Owners:
        """Return the owners. Raises Unusable while they cannot be read: without them, owned objects would seem to have no owner.

        Blocks if reading them has failed so far.
        """
        if self._stored is None:
            self._read()
        return self._owners

    def replace_in_memory(self, owners: Owners) -> None:
        """Replace the owners in memory only. The next process must be able to compute them from the stored ones, like settled owners."""
        self._owners = owners

    async def write(self, owners: Owners) -> None:
        """Replace the owners, in memory and on disk. Raises Unusable with nothing changed."""
        await self._database.store(partial(_store, self._stored or Owners(), owners))
        self._owners = self._stored = owners

    def _read(self) -> None:
        self._stored = self._database.read(_read)
        self._owners = self._stored.after_restart()


def _read(state: State) -> Owners:
    rows = [(owner, json.loads(claims), json.loads(former)) for owner, claims, former in state.execute("SELECT * FROM owner")]
    former = {
        owner: tuple(FormerClaims(each["claims"], AwaitedOutcome(**each["wait"])) for each in former) for owner, _, former in rows if former
    }
    return Owners({owner: claims for owner, claims, _ in rows if claims}, former)


def _store(before: Owners, after: Owners, state: State) -> None:
    """Write the rows that differ between `before` and `after`."""
    rows, former = ({owner: _row(owners, owner) for owner in (*owners.claims, *owners.former)} for owners in (after, before))
    with state.transaction():
        state.executemany("DELETE FROM owner WHERE name = ?", [(owner,) for owner in former if owner not in rows])
        changed = [(owner, *row) for owner, row in rows.items() if row != former.get(owner)]
        state.executemany("INSERT OR REPLACE INTO owner VALUES (?, ?, ?)", changed)


def _row(owners: Owners, owner: str) -> tuple[str, str]:
    former = [{"claims": each.claims, "wait": asdict(each.awaited)} for each in owners.former.get(owner, ())]
    return json.dumps(owners.claims.get(owner, {})), json.dumps(former)


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of reloads and confirmations. `confirmed` returns whether a confirmation was given; None while it is pending."""

    records: Records
    confirmed: Callable[[str], bool | None]

    def is_permanent(self, awaited: AwaitedOutcome) -> bool | None:
        """Return whether a change is permanent; None while that is unknown."""
        if awaited == IN_COMMIT:
            return None
        found = [self._is_loaded(awaited.reload, awaited.version)] if awaited.reload else []
        found += [self.confirmed(awaited.confirmation)] if awaited.confirmation else []
        return False if False in found else None if None in found else True

    def _is_loaded(self, reload_id: str, version: int) -> bool | None:
        """Return whether a reload has loaded a version; None while it is in progress. If its record was deleted, assume that it has."""
        try:
            record = self.records.get(reload_id)
        except Missing:
            return True
        if record.status == IN_PROGRESS:
            return None
        if record.status != SUCCEEDED and record.keeps(version) and record.rest_reload_id:
            return self._is_loaded(record.rest_reload_id, version)
        return record.status == SUCCEEDED or record.keeps(version)
