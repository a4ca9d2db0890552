"""Store in the database which owner has declared which members of which objects.

A claim is the digest of the value that an owner declared last for a member. The claim tells who owns the member, and whether anybody has
changed the value afterwards.

A committed change may still be rolled back, because its reload fails or nobody confirms it. Until the outcome is known, the claims that
the change replaced are stored as `FormerClaims`, the oldest first, each with its `AwaitedOutcome`. Meanwhile both the new and the former
claims are valid (`Owners.claims_of`), so the values of both configurations count as the owner's. `Owners.with_known_outcomes` drops the
former claims of a permanent change, and restores those of a change that was rolled back.

A crash during a commit leaves former claims with the outcome IN_COMMIT. The next process cannot know whether the commit was made. It merges
these former claims into the present ones (`Owners.after_restart`).
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
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
# How many `FormerClaims` of one owner are stored: the oldest, and the newest of the others.
MOST_FORMER = 4


def digest(value: Any) -> str:
    """Return the digest of a JSON value, which may also contain bytes."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=lambda content: hashlib.sha256(content).hexdigest())
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def is_claimed(claim: str | None, value: Any) -> bool:
    """Return whether a claim has the digest of `value`, or of `value` without comments.

    While the outcome of a change is unknown, a claim has several digests, separated by commas.
    """
    return claim is not None and not {digest(value), digest(without_comments(value))}.isdisjoint(claim.split(","))


def equals_declared(present: Any, declared: Any) -> bool:
    """Return whether the values are equal. If `declared` has no comments, the comments of `present` are ignored."""
    return declared in (present, without_comments(present))


def without_comments(value: Any) -> Any:
    """Return a value without the comments of its rows if it is a list. Return any other value unchanged."""
    if not isinstance(value, list):
        return value
    rows = []
    for row in value:
        metadata = row.get("metadata") if isinstance(row, dict) else None
        if isinstance(metadata, dict) and [*metadata] == ["comment"]:
            rows.append({name: member for name, member in row.items() if name != "metadata"})
        else:
            rows.append(row)
    return rows


@dataclass(frozen=True)
class AwaitedOutcome:
    """The reload and the confirmation that decide whether a change is permanent.

    If both are empty, the change is being committed, or a crash has interrupted its commit.
    """

    # The id of the reload, and of the confirmation; empty if there is none.
    reload: str = ""
    confirmation: str = ""
    # The version that the reload loads.
    version: int = 0


# The outcome of a commit in progress.
IN_COMMIT = AwaitedOutcome()


@dataclass(frozen=True)
class FormerClaims:
    """The claims of an owner before a change that may still be rolled back, and the awaited outcome of the change."""

    claims: Claims
    awaited: AwaitedOutcome


@dataclass(frozen=True)
class Owners:
    """The claims and the former claims of all owners. The former claims are ordered, the oldest first. Immutable."""

    claims: Mapping[str, Claims] = field(default_factory=dict)
    former: Mapping[str, Sequence[FormerClaims]] = field(default_factory=dict)

    def claims_of(self, owner: str) -> Claims:
        """Return the valid claims of an owner: the present claims, merged with the former claims that a rollback may restore.

        The claim of a member that is in both has the digests of both.
        """
        claims = self.claims.get(owner, {})
        for former in reversed(self.former.get(owner, ())):
            with_digests = {**former.claims, **_with_former_digests(former.claims, claims)}
            claims = {object_: {**former.claims.get(object_, {}), **members} for object_, members in with_digests.items()}
        return claims

    def with_former_claims(self, before: "Owners", awaited: AwaitedOutcome) -> "Owners":
        """Return these owners with additional former claims: the claims in `before` of each owner whose claims differ from `before`.

        `awaited` decides whether these former claims are dropped or restored.
        """
        former = dict(self.former)
        for owner in dict.fromkeys([*before.claims, *self.claims]):
            claims = before.claims.get(owner, {})
            if claims != self.claims.get(owner, {}):
                first, *others = *former.get(owner, ()), FormerClaims(claims, awaited)
                former[owner] = (first, *others[1 - MOST_FORMER :])
        return Owners(self.claims, former)

    def with_known_outcomes(self, is_permanent: Callable[[AwaitedOutcome], bool | None]) -> "Owners":
        """Drop the former claims of permanent changes, and restore those of changes that were rolled back.

        Return `self` if no outcome is known. `is_permanent`: returns whether a change is permanent, or None while that is unknown.

        After a rollback, the configuration of later changes may have the former values again. The claims of later changes therefore get the
        former digests in addition.
        """
        owners = self
        for owner, stored in self.former.items():
            former, claims = list(stored), self.claims.get(owner, {})
            while former and (stays := is_permanent(former[0].awaited)) is not None:
                known = former.pop(0)
                if stays:
                    continue
                claims = _with_former_digests(known.claims, claims) if former else known.claims
                former[1:] = [replace(each, claims=_with_former_digests(known.claims, each.claims)) for each in former[1:]]
                former[:1] = [replace(each, claims=known.claims) for each in former[:1]]
            if len(former) < len(stored):
                owners = Owners(_with_row(owners.claims, owner, claims), _with_row(owners.former, owner, tuple(former)))
        return owners

    def after_restart(self) -> "Owners":
        """Merge the present and former claims of each owner whose commit was interrupted by the end of the process."""
        owners = self
        for owner, former in self.former.items():
            if any(each.awaited == IN_COMMIT for each in former):
                owners = Owners(_with_row(owners.claims, owner, self.claims_of(owner)), _with_row(owners.former, owner, ()))
        return owners

    def other_owners(self, owner: str, object_: str, member: str) -> list[str]:
        """Return the owners of a member, without `owner`."""
        return [other for other, claims in self.claims.items() if other != owner and member in claims.get(object_, {})]

    def other_owners_within(self, owner: str, object_: str) -> Iterator[tuple[str, str]]:
        """Yield (owner, name of the claimed object) for each claim of another owner to an object, or to an object in it."""
        for other, claims in self.claims.items():
            if other != owner:
                yield from ((other, claim) for claim in claims if claim == object_ or claim.startswith(f"{object_}/"))

    def renamed(self, object_: str, to: str) -> "Owners":
        """Return the owners with an object renamed to `to` in all claims to the object, and to the objects in it."""
        claims = {}
        for owner, objects in self.claims.items():
            claims[owner] = {renamed(name, object_, to): members for name, members in objects.items()}
        return replace(self, claims=claims)

    def with_claims(self, owner: str, claims: Claims, lost: Mapping[str, set[tuple[str, str]]]) -> "Owners":
        """Return the owners with the claims of `owner` replaced by `claims`.

        `lost`: the (object, member) pairs that other owners no longer own, by owner.
        """
        new: dict[str, Claims] = {}
        for other, objects in self.claims.items():
            pairs = lost.get(other, set())
            left = {name: {member: value for member, value in objects[name].items() if (name, member) not in pairs} for name in objects}
            new[other] = {name: members for name, members in left.items() if members} if pairs else objects
        return Owners({name: objects for name, objects in {**new, owner: claims}.items() if objects}, self.former)


def _with_row(rows: Mapping[str, Any], owner: str, row: Any) -> dict[str, Any]:
    """Return the rows with the row of `owner` replaced by `row`, and without empty rows."""
    return {name: each for name, each in {**rows, owner: row}.items() if each}


def _with_former_digests(former: Claims, claims: Claims) -> Claims:
    """Return `claims`, with the digests that `former` has for the same members added to each claim."""
    added = dict[str, dict[str, str]]()
    for object_, members in claims.items():
        added[object_] = {}
        for member, digests in members.items():
            both = [*former.get(object_, {}).get(member, "").split(","), *digests.split(",")]
            added[object_][member] = ",".join(filter(None, dict.fromkeys(both)))
    return added


class OwnerTable:
    """The owners of all declared members, in memory and in the database."""

    def __init__(self, database: Database) -> None:
        database.declare(TABLES)
        self._database = database
        self._stored: Owners | None = None
        self._owners = Owners()
        with suppress(Unusable):
            self._read()

    @property
    def owners(self) -> Owners:
        """Return the owners. If they have not been read from the database yet, reads them, and blocks. Raises Unusable."""
        if self._stored is None:
            self._read()
        return self._owners

    def replace_in_memory(self, owners: Owners) -> None:
        """Replace the owners in memory, but not on disk. The next process must be able to compute `owners` from the owners on disk."""
        self._owners = owners

    async def write(self, owners: Owners) -> None:
        """Replace the owners, in memory and on disk. Raises Unusable, and then changes neither."""
        stored = self._stored or Owners()

        def write_rows(state: State) -> None:
            rows, former = _table_rows(owners), _table_rows(stored)
            with state.transaction():
                state.executemany("DELETE FROM owner WHERE name = ?", [(owner,) for owner in former if owner not in rows])
                differing = [(owner, *row) for owner, row in rows.items() if row != former.get(owner)]
                state.executemany("INSERT OR REPLACE INTO owner VALUES (?, ?, ?)", differing)

        await self._database.store(write_rows)
        self._owners = self._stored = owners

    def _read(self) -> None:
        def read_rows(state: State) -> Owners:
            claims, former = dict[str, Claims](), dict[str, Sequence[FormerClaims]]()
            for owner, claims_text, former_text in state.execute("SELECT * FROM owner"):
                if stored := json.loads(claims_text):
                    claims[owner] = stored
                if replaced := json.loads(former_text):
                    former[owner] = tuple(FormerClaims(each["claims"], AwaitedOutcome(**each["wait"])) for each in replaced)
            return Owners(claims, former)

        self._stored = self._database.read(read_rows)
        self._owners = self._stored.after_restart()


def _table_rows(owners: Owners) -> dict[str, tuple[str, str]]:
    """Return (present claims, former claims) of each owner as JSON, by owner."""
    rows = {}
    for owner in (*owners.claims, *owners.former):
        former = [{"claims": each.claims, "wait": asdict(each.awaited)} for each in owners.former.get(owner, ())]
        rows[owner] = json.dumps(owners.claims.get(owner, {})), json.dumps(former)
    return rows


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of reloads and confirmations.

    `confirmed`: returns whether the confirmation with this id was given, or None while the confirmation is pending.
    """

    records: Records
    confirmed: Callable[[str], bool | None]

    def is_permanent(self, awaited: AwaitedOutcome) -> bool | None:
        """Return whether a change is permanent. Return None while that is unknown."""
        if awaited == IN_COMMIT:
            return None
        outcomes = [self._is_loaded(awaited.reload, awaited.version)] if awaited.reload else []
        outcomes += [self.confirmed(awaited.confirmation)] if awaited.confirmation else []
        return False if False in outcomes else None if None in outcomes else True

    def _is_loaded(self, reload_id: str, version: int) -> bool | None:
        """Return whether a reload has loaded a version. Return None while the reload is in progress, and True if its record was deleted."""
        try:
            record = self.records.get(reload_id)
        except Missing:
            return True
        if record.status == IN_PROGRESS:
            return None
        if record.status != SUCCEEDED and record.keeps(version) and record.rest_reload_id:
            return self._is_loaded(record.rest_reload_id, version)
        return record.status == SUCCEEDED or record.keeps(version)
