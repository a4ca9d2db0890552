"""A hundred buckets, each of which belongs to one backend. Pure."""

from collections.abc import Mapping, Sequence

from haproxy_native.errors import BadValue
from haproxy_native.storage.split_file import BUCKETS


def shares(weights: Mapping[str, float]) -> dict[str, int]:
    """Whole parts of a hundred, rounded by the largest remainder. Raises BadValue where no weight is above 0."""
    total = sum(weights.values())
    if total <= 0 or min(weights.values()) < 0:
        raise BadValue("weights: none may be below 0, and one must be above it")
    exact = {name: weight * BUCKETS / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_remainder[: BUCKETS - sum(whole.values())]:
        whole[name] += 1
    return whole


def assigned(wanted: Mapping[str, int], former: Sequence[str] = ()) -> list[str]:
    """The backend of each bucket. A backend whose share grows keeps all it had, one whose share shrinks keeps as many as it still has.

    Of two backends one that grew and shrinks again gives back what it was given.
    """
    ideal = [name for name, share in wanted.items() for _ in range(share)]
    buckets = [""] * BUCKETS
    for name, share in wanted.items():
        had = [bucket for bucket, owner in enumerate(former) if owner == name]
        for bucket in sorted(had, key=lambda bucket: ideal[bucket] != name)[:share]:
            buckets[bucket] = name
    left = {name: share - buckets.count(name) for name, share in wanted.items()}
    for bucket, name in enumerate(ideal):
        if not buckets[bucket] and left[name]:
            buckets[bucket], left[name] = name, left[name] - 1
    rest = iter([name for name, count in left.items() for _ in range(count)])
    return [owner or next(rest) for owner in buckets]
