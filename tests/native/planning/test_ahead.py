"""Changes that need not wait for others."""

import pytest

from haproxy_native.planning.plan import with_ready_change
from haproxy_native.text.document import Document

RUNNING = "backend a\n  server s 127.0.0.1:1 weight 1\n\nbackend b\n  mode tcp\n"
WAITING = RUNNING.replace("tcp", "http")


BASED = "defaults base\n  retries 2\n\nbackend a from base\n\n"
LATER = f"{BASED}defaults other\n\nfrontend f from base\n"
NEW = "backend c\n  server s 127.0.0.1:1\n"


@pytest.mark.parametrize(
    ("before", "new", "wanted"),
    [
        (WAITING, WAITING.replace("weight 1", "weight 2"), RUNNING.replace("weight 1", "weight 2")),
        (WAITING, WAITING.replace("weight 1", "weight 1 # why"), RUNNING.replace("weight 1", "weight 1 # why")),
        (WAITING, WAITING, RUNNING),
        (WAITING + "backend c\n", WAITING.replace("weight 1", "weight 2") + "backend c\n", RUNNING.replace("weight 1", "weight 2")),
        (WAITING, WAITING + "  # why\n", RUNNING),
        (WAITING, WAITING.replace("http", "log"), None),
        (WAITING, WAITING + "backend c\n", RUNNING + "backend c\n"),
        (WAITING, WAITING + "backend c", RUNNING + "backend c\n"),
        (WAITING, WAITING.replace("backend b", "backend c\n\nbackend b"), RUNNING.replace("backend b", "backend c\n\nbackend b")),
        (WAITING + "backend c\n", WAITING + "backend c\nbackend d\n", RUNNING + "backend d\n"),
        (WAITING, "backend c\n" + WAITING, None),
        (WAITING, WAITING[WAITING.index("backend b") :], RUNNING[RUNNING.index("backend b") :]),
        (WAITING, WAITING[: WAITING.index("backend b")], None),
        (WAITING + "backend c\n", WAITING, None),
        (WAITING[: WAITING.index("backend b")], WAITING, None),
        (WAITING, WAITING + "frontend f\n", None),
        (WAITING, "  bind :1\n" + WAITING, None),
        (WAITING + "backend c\n", WAITING + "backend c\n  mode tcp\n", None),
    ],
)
def test_what_can_be_done_now(before: str, new: str, wanted: str | None) -> None:
    found = with_ready_change(*(Document.parse(text.encode()) for text in (RUNNING, before, new)))
    assert (found.text if found else None) == wanted


@pytest.mark.parametrize(
    ("running", "before", "new", "wanted"),
    [
        (BASED, LATER, BASED + NEW + LATER.removeprefix(BASED), BASED + NEW),
        (BASED, LATER, LATER + NEW, None),
        (BASED, LATER, LATER + NEW.replace("c\n", "c from base\n", 1), BASED + NEW.replace("c\n", "c from base\n", 1)),
        (BASED, LATER, LATER + NEW.replace("c\n", "c from other\n", 1), None),
        (BASED.replace("2", "3"), BASED, BASED + NEW, None),
        (BASED, BASED + "  .if feature(LUA)\n", BASED + "  .if feature(LUA)\n" + NEW, None),
        (BASED[:-2], BASED[:-2] + "\n  retries 1\n", BASED[:-2] + "\n  retries 1\n" + NEW, BASED[:-2] + "\n" + NEW),
    ],
)
def test_a_new_backend_inherits_the_same_in_both(running: str, before: str, new: str, wanted: str | None) -> None:
    found = with_ready_change(*(Document.parse(text.encode()) for text in (running, before, new)))
    assert (found.text if found else None) == wanted
