"""Choose the number of repetitions for each row: enough for a steady median, within minutes on the large farm."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Numbers of runs. A server has `rest` seconds to come to rest; `clients` read for `seconds`; `batch` changes go into one transaction.

    `pushed` weights go into one raw push. `tenants` come beside `rate` requests a second, and the backends of `services` by discovery.
    `entries` changes are made of a file of `entered` servers, with and without a history.
    `subscribers` read `events` each. `declared` backends are applied, and as many as `single` made by a call for each object.
    The page is opened `views` times. A fleet has `nodes` and makes `releases`; `watchers` are told of it, and it is `quiet` for so many
    seconds.
    """

    starts: int
    reads: int
    large_reads: int
    changes: int
    pushes: int
    batch: int
    pushed: int
    transactions: int
    clients: int = 16
    seconds: float = 3.0
    rest: float = 5.0
    tenants: int = 1000
    rate: int = 500
    services: int = 300
    entries: int = 100
    entered: int = 10_000
    subscribers: int = 1000
    events: int = 100
    declared: int = 1000
    single: int = 1000
    views: int = 10
    nodes: int = 20
    releases: int = 10
    watchers: int = 100
    quiet: float = 60.0


def effort(size: int, *, transactions: int, quick: bool = False) -> Effort:
    if quick:
        few: dict[str, int] = {
            "tenants": 10,
            "rate": 100,
            "services": 5,
            "entries": 2,
            "entered": 100,
            "subscribers": 20,
            "events": 2,
            "declared": 10,
            "views": 1,
            "nodes": 3,
            "releases": 1,
            "watchers": 3,
            "quiet": 1,
        }
        return Effort(
            starts=1,
            reads=5,
            large_reads=1,
            changes=2,
            pushes=1,
            batch=10,
            pushed=10,
            transactions=5,
            seconds=0.2,
            rest=0,
            single=10,
            **few,
        )
    if size > 1000:
        return Effort(starts=3, reads=500, large_reads=5, changes=7, pushes=5, batch=1000, pushed=100, transactions=transactions, single=0)
    return Effort(starts=5, reads=1000, large_reads=30, changes=20, pushes=10, batch=1000, pushed=100, transactions=transactions)
