"""Changes that need not wait for others."""

import pytest

from haproxy_native.planning.ahead import ahead
from haproxy_native.text.document import Document

RUNNING = "backend a\n  server s 127.0.0.1:1 weight 1\n\nbackend b\n  mode tcp\n"
WAITING = RUNNING.replace("tcp", "http")


@pytest.mark.parametrize(
    ("before", "new", "wanted"),
    [
        (WAITING, WAITING.replace("weight 1", "weight 2"), RUNNING.replace("weight 1", "weight 2")),
        (WAITING, WAITING.replace("weight 1", "weight 1 # why"), RUNNING.replace("weight 1", "weight 1 # why")),
        (WAITING, WAITING, RUNNING),
        (WAITING + "backend c\n", WAITING.replace("weight 1", "weight 2") + "backend c\n", RUNNING.replace("weight 1", "weight 2")),
        (WAITING, WAITING + "  # why\n", None),
        (WAITING, WAITING.replace("http", "log"), None),
        (WAITING, WAITING + "backend c\n", None),
        (WAITING, "  bind :1\n" + WAITING, None),
        (WAITING + "backend c\n", WAITING + "backend c\n  mode tcp\n", None),
    ],
)
def test_what_can_be_done_now(before: str, new: str, wanted: str | None) -> None:
    found = ahead(*(Document.parse(text.encode()) for text in (RUNNING, before, new)))
    assert (found.text if found else None) == wanted
