"""Lists of certificates without one change; with HAProxy in tests/app/handlers/sidecar/test_process_reverts.py."""

import pytest

from haproxy_native.commit.change import Member
from haproxy_native.process_objects.crt_lists import CrtLists

OBJECT = "crt_list/a"


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (["d", "a x"], ["d"], ["d", "a x"]),
        (["d", "a x", "b y"], ["d", "b y"], ["d", "b y", "a x"]),
        (["d", "a x", "b x"], ["d", "b x"], ["d", "a x", "b x"]),
        (["d", "a", "b y"], ["d", "b y"], ["d", "a", "b y"]),
        (["d", "a x", "b"], ["d", "b"], ["d", "a x", "b"]),
        (["d"], ["d", "a x"], ["d"]),
    ],
    ids=["the last", "names apart", "one name", "names of its certificate", "before such a one", "one that was added"],
)
def test_what_comes_back_stands_at_the_end_where_that_does_not_count(before: list[str], after: list[str], left: list[str]) -> None:
    change = Member(OBJECT, "entries", before, after)
    found = CrtLists(None).without(OBJECT, {"entries": after}, [change])  # type: ignore[arg-type]
    assert found and found.members == {"entries": left}
    assert CrtLists(None).without(OBJECT, {"entries": before}, [change]) is None  # type: ignore[arg-type]
