"""Split traffic between backends in percent, by a stored map that can be changed at runtime.

The map has a hundred buckets, each with the name of a backend. A frontend chooses the bucket of a request by a hash of a key, such as a
cookie, or at random (rules.py). A change of the shares moves as few buckets as possible, so most clients stay with their backend.

A new split is stored first, and its lines are added to the frontend afterwards. If the lines cannot be added, the map is deleted again. A
crash in between leaves a map that no line uses. The client can send the same request again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.permission import permit_file
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.file_references import references
from haproxy_native.editing.object_names import parsed
from haproxy_native.engine import Engine
from haproxy_native.errors import BadValue, InUse, Missing, NativeError, NotFound, RuntimeFailure
from haproxy_native.features.splits import rules
from haproxy_native.features.splits.rules import LinesMissing
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE
from haproxy_native.reload.records import SUCCEEDED
from haproxy_native.request_context import Author
from haproxy_native.storage import list_files
from haproxy_native.storage.list_files import BUCKETS, Split
from haproxy_native.storage.list_store import MapStore
from haproxy_native.workers.workers import BACKENDS, Workers

# The column of `show stat` with the sessions of a backend, which are requests in mode http.
_COLUMN = "stot"
# The prefix of the names of the maps.
PREFIX = "split_"


def shares(weights: Mapping[str, float]) -> dict[str, int]:
    """Return the shares in percent, as integers whose sum is 100. Raises BadValue if a weight is below 0 or all weights are 0.

    The shares are rounded by the method of the largest remainder.
    """
    total = sum(weights.values())
    if total <= 0 or min(weights.values()) < 0:
        raise BadValue("weights: no weight may be below 0, and one must be above 0")
    exact = {name: weight * BUCKETS / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_remainder[: BUCKETS - sum(whole.values())]:
        whole[name] += 1
    return whole


def assigned(new_shares: Mapping[str, int], former: Sequence[str] = ()) -> list[str]:
    """Return the backend of each bucket for the new shares. `former` has the backend of each bucket so far.

    A backend whose share grows keeps all its buckets. A backend whose share shrinks loses no more buckets than necessary. If the share of
    one of two backends grows and then shrinks again, this backend loses the buckets that it has gained.
    """
    ideal = [name for name, share in new_shares.items() for _ in range(share)]
    buckets = [""] * BUCKETS
    for name, share in new_shares.items():
        had = [bucket for bucket, owner in enumerate(former) if owner == name]
        for bucket in sorted(had, key=lambda bucket: ideal[bucket] != name)[:share]:
            buckets[bucket] = name
    left = {name: share - buckets.count(name) for name, share in new_shares.items()}
    for bucket, name in enumerate(ideal):
        if not buckets[bucket] and left[name]:
            buckets[bucket], left[name] = name, left[name] - 1
    rest = iter([name for name, count in left.items() for _ in range(count)])
    return [owner or next(rest) for owner in buckets]


@dataclass(frozen=True)
class SplitStatus:
    """A split with its current state."""

    name: str
    split: Split
    # The map.
    file: Path
    # The share of each backend in percent.
    shares: Mapping[str, int]
    # The frontends that have its lines.
    frontends: Sequence[str]
    # The requests to each backend since the last change; None if HAProxy does not answer.
    requests: Mapping[str, int] | None = None
    # Whether `requests` is complete. If a worker has ended since the last change, its requests are unknown.
    complete: bool = False


class Splits:
    """The splits of one engine, by name."""

    def __init__(self, engine: Engine, editor: Editor, workers: Workers) -> None:
        self._engine, self._editor, self._workers = engine, editor, workers
        self._one_at_a_time = asyncio.Lock()

    async def all(self) -> list[SplitStatus]:
        """Return the splits, sorted by name; none if no directory for maps is configured."""
        statuses = []
        for path in sorted(await asyncio.to_thread(self._map_files)):
            with suppress(NotFound):
                statuses.append(await self.status(path.stem.removeprefix(PREFIX)))
        return statuses

    async def uses(self, object_: str) -> list[str]:
        """Return `split NAME` for each split that has a weight for a backend, even a weight of 0."""
        kind, *names = parsed(object_)
        if kind != "backend" or len(names) != 1:
            return []
        splits = await asyncio.to_thread(self._read_splits)
        return [f"split {path.stem.removeprefix(PREFIX)}" for path, split in splits if names[0] in split.weights]

    def _read_splits(self) -> list[tuple[Path, Split]]:
        """Read the splits from their maps. Skips maps that cannot be read. Blocks."""
        splits = list[tuple[Path, Split]]()
        for path in sorted(self._map_files()):
            with suppress(OSError):
                if split := list_files.parse_split(self._maps.content(path).decode("utf-8", "surrogateescape")):
                    splits.append((path, split))
        return splits

    async def status(self, name: str) -> SplitStatus:
        """Return a split with its current state. Raises NotFound."""
        path, text = self._path(name), await self._read_map(name)
        split = list_files.parse_split(text)
        if split is None:
            raise NotFound(f"there is no split {name}")
        buckets = Counter(list_files.parse_buckets(text))
        shares = {backend: buckets[backend] for backend in dict.fromkeys([*split.weights, *buckets]) if backend}
        frontends = list(rules.installed(self._editor, self._engine.document, str(path)))
        counts = await self._request_counts(shares)
        if not counts:
            return SplitStatus(name, split, path, shares, frontends)
        # The requests since the last change.
        requests = {
            backend: sum(count.get(backend, 0) - split.before.get(process, {}).get(backend, 0) for process, count in counts.items())
            for backend in shares
        }
        pids = {int(process.partition("@")[0]) for process in counts}
        records = self._engine.reloads.records.all()
        started = {record.pid_after for record in records if record.status == SUCCEEDED and (record.ended or 0) >= split.since}
        complete = split.before.keys() <= counts.keys() and started - {None} <= pids
        return SplitStatus(name, split, path, shares, frontends, requests, complete)

    async def put(self, name: str, by: str, weights: Mapping[str, float], frontend: str = "", *, author: Author) -> Outcome:
        """Change the shares of a split at runtime, or create the split.

        If `frontend` lacks the lines of the split, add the lines, which needs a reload. Raises BadValue, NotFound and what commits raise.
        Raises LinesMissing if no frontend has the lines and `frontend` is empty.
        """
        new_shares, operation = shares(weights), self._put_operation(name, by, weights, frontend)
        split = Split(by, dict(weights), time.time(), await self._request_counts(weights))
        async with self._one_at_a_time:
            outcome, is_new = await self._store_map(name, split, new_shares, author)
            if operation is None:
                return outcome
            try:
                return await self._engine.amend([operation], author=author)
            except NativeError:
                if is_new:
                    await self._remove(self._path(name), author)
                raise

    async def check_put(self, name: str, by: str, weights: Mapping[str, float], frontend: str = "", *, author: Author) -> bool:
        """Return whether `put` would reload HAProxy. Raises what `put` would raise, except for refusals by HAProxy."""
        shares(weights)
        put, path = self._put_operation(name, by, weights, frontend), self._path(name)
        permit_file(author, self._maps.kind, path, CHANGE if path.exists() else CREATE)
        return await self._engine.check_change(Change([put], author=author)) if put else False

    async def check_delete(self, name: str, *, author: Author) -> bool:
        """Return whether `delete` would reload HAProxy. Raises what `delete` would raise, except for refusals by HAProxy."""
        path = await self._existing_map(name)
        self._check_unused_elsewhere(path)
        permit_file(author, self._maps.kind, path, DELETE)
        return await self._engine.check_change(Change([rules.DropRules(self._editor, str(path))], author=author))

    def _put_operation(self, name: str, by: str, weights: Mapping[str, float], frontend: str) -> rules.PutRules | None:
        """Return the operation that adds the lines of a split to `frontend`; None if no lines have to be added.

        Raises BadValue if the modes of backends and frontends do not fit, NotFound, and LinesMissing.
        """
        document, path = self._engine.document, str(self._path(name))
        new_rules = rules.rules(by, path)
        mode = rules.common_mode(document, list(weights))
        if rules.needs_http(by) and mode != rules.HTTP:
            raise BadValue(f"by: {by} needs backends with mode http, but these have mode {mode}")
        installed = rules.installed(self._editor, document, path)
        for proxy in {frontend, *installed} - {""}:
            rules.check_frontend(document, proxy, mode)
        complete = [proxy for proxy, old_rules in installed.items() if old_rules == new_rules]
        others = [proxy for proxy in installed if proxy not in (*complete, frontend)]
        texts = rules.lines(self._editor, new_rules)
        if others:
            raise LinesMissing(f"frontend {others[0]} has other lines for the split; name this frontend to replace them", texts, others[0])
        if not complete and not frontend:
            text = "no frontend has the lines of the split: add them after its other use_backend lines"
            raise LinesMissing(f"{text}, or name the frontend to add them to", texts, "")
        return rules.PutRules(self._editor, frontend, new_rules, path) if frontend and frontend not in complete else None

    async def delete(self, name: str, *, author: Author) -> Outcome:
        """Remove the lines of a split, which needs a reload, and then its map. Raises NotFound, InUse, and what commits raise."""
        path = await self._existing_map(name)
        async with self._one_at_a_time:
            self._check_unused_elsewhere(path)
            outcome = await self._engine.amend([rules.DropRules(self._editor, str(path))], author=author)
            await self._remove(path, author)
        return outcome

    async def _existing_map(self, name: str) -> Path:
        """Return the path of a split's map. Raises NotFound."""
        if list_files.parse_split(await self._read_map(name)) is None:
            raise NotFound(f"there is no split {name}")
        return self._path(name)

    def _check_unused_elsewhere(self, path: Path) -> None:
        """Raise InUse if a line that does not belong to the split uses the map."""
        document = rules.without_rules(self._editor, self._engine.document, str(path))
        for reference in references(document, str(path), self._engine.context.base(document)):
            raise InUse(f"the map of the split is used by another line: {reference.text.strip()} (in {reference.section})")

    async def _store_map(self, name: str, split: Split, new_shares: Mapping[str, int], author: Author) -> tuple[Outcome, bool]:
        """Store the map. Return the outcome of the commit, and whether the map is new."""
        path, maps = self._path(name), self._maps
        former = list_files.parse_buckets(await self._read_map(name))
        try:
            upload, is_new = maps.upload_existing(path.name, author), False
        except Missing:
            upload, is_new = maps.upload_new(path.name, author), True
        text = list_files.format_split(split, assigned(new_shares, former))
        return await upload.put(self._engine.context, text.encode()), is_new

    async def _remove(self, path: Path, author: Author) -> None:
        with suppress(Missing):
            await self._maps.delete(self._engine.context, path.name, author)

    async def _request_counts(self, backends: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the number of requests to each of these backends so far, by process; empty if HAProxy does not answer."""
        with suppress(RuntimeFailure):
            counts = await self._workers.counts(BACKENDS, _COLUMN)
            return {process: {name: count.get(name, 0) for name in backends} for process, count in counts.by_process.items()}
        return {}

    async def _read_map(self, name: str) -> str:
        """Return the text of a split's map; empty if there is no such map."""
        try:
            return (await asyncio.to_thread(self._maps.content, self._path(name))).decode("utf-8", "surrogateescape")
        except OSError:
            return ""

    def _map_files(self) -> list[Path]:
        with suppress(NotFound):
            return list(self._maps.directory.glob(f"{PREFIX}*.map"))
        return []

    def _path(self, name: str) -> Path:
        return self._maps.directory / f"{PREFIX}{name}.map"

    @property
    def _maps(self) -> MapStore:
        store = self._engine.stores.get("maps")
        if not isinstance(store, MapStore):
            raise NotFound("a split is a stored map, and there is no directory for maps: set dataplaneapi.resources.maps_dir")
        return store
