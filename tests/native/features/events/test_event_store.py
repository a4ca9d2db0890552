import json

from haproxy_native.features.events.stream import EventStore, StreamEvent

SECOND = 1_000_000


def event(id_: int, size: int = 0) -> StreamEvent:
    return StreamEvent(id_, "config", (), b"x" * size)


def ids(store: EventStore, after: int = 0, most: int = 1000) -> list[int]:
    return [each.id for each in store.after(after, most)]


def test_the_json_of_an_event() -> None:
    made = StreamEvent.of(1_700_000_000_250_000, "config", "backend/b", {"text": "bad \udcff"})
    assert json.loads(made.body) == {
        "id": "1700000000250000",
        "time": "2023-11-14T22:13:20.250Z",
        "type": "config",
        "object": "backend/b",
        "data": {"text": "bad \udcff"},
    }
    assert made.objects == ("backend/b",)


def test_the_oldest_make_room() -> None:
    store = EventStore(5, number=10, size=1000)
    for id_ in range(10, 110):
        store.add(event(id_))
    assert ids(store) == list(range(100, 110))
    assert store.floor == 99
    assert ids(store, after=103, most=2) == [104, 105]


def test_large_ones_make_more_room() -> None:
    store = EventStore(0, number=100, size=3 * event(1, 30).memory)
    for id_ in range(1, 11):
        store.add(event(id_, 30))
    assert ids(store) == [8, 9, 10]
    store.add(event(11, 500))
    assert ids(store) == [11], "the last one is always kept"
    assert store.floor == 10


def test_names_of_objects_count() -> None:
    assert StreamEvent(1, "config", ("backend/b",) * 2, b"").memory > event(1).memory + 2 * len("backend/b")


def test_old_ones_go() -> None:
    store = EventStore(0, number=100, size=1000, seconds=10)
    for second in (1, 5, 12, 14):
        store.add(event(second * SECOND))
    assert ids(store) == [5 * SECOND, 12 * SECOND, 14 * SECOND]
    store.restart(15 * SECOND)
    assert ids(store) == [] and store.floor == 15 * SECOND
