"""Sections that HAProxy reads as one are one, and stay several."""

from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.text.document import Document

EDITOR = Editor()
GLOBAL, TRACES, LOGS = EDITOR.resources["global"], EDITOR.resources["traces"], EDITOR.resources["log_targets"]
TEXT = """\
global # one
  maxconn 10
  log 192.0.2.1:514 local0
traces
  trace h1 sink stderr
backend b

# two
global
  maxconn 20 # mine
  zork 1
  log 192.0.2.2:514 local0
traces
  trace h2 sink stderr
"""
DOCUMENT = Document.parse(TEXT)


def test_they_are_read_as_one() -> None:
    assert EDITOR.get_object(DOCUMENT, GLOBAL, None, "")["performance_options"] == {"maxconn": 20}
    assert [each["trace"] for each in EDITOR.get_object(DOCUMENT, TRACES, None, "")["entries"]] == ["h1 sink stderr", "h2 sink stderr"]
    assert [each["address"] for each in EDITOR.list_objects(DOCUMENT, LOGS, (GLOBAL, ""))] == ["192.0.2.1:514", "192.0.2.2:514"]


@pytest.mark.parametrize(
    ("body", "full", "gone", "come"),
    [
        ({"performance_options": {"maxconn": 30}}, False, "  maxconn 20 # mine\n", "  maxconn 30 # mine\n"),
        ({"performance_options": {"maxconn": 20}}, False, "", ""),
        (
            {"performance_options": {"maxconn": 20}, "log_target_list": [{"address": "192.0.2.1:514", "facility": "local0"}]},
            True,
            "  log 192.0.2.2:514 local0\n",
            "",
        ),
    ],
)
def test_an_edit_stays_where_it_belongs(body: dict[str, Any], full: bool, gone: str, come: str) -> None:
    assert EDITOR.replace(DOCUMENT, GLOBAL, None, "", body, full=full).text == TEXT.replace(gone, come, 1)


def test_their_children_are_edited_where_they_stand() -> None:
    edited = EDITOR.delete(DOCUMENT, LOGS, (GLOBAL, ""), 1)
    assert edited.text == TEXT.replace("  log 192.0.2.2:514 local0\n", "")
    again = EDITOR.create(edited, LOGS, (GLOBAL, ""), {"address": "192.0.2.3:514", "facility": "local1"})
    assert again.text == edited.text.replace("local0\n", "local0\n  log 192.0.2.3:514 local1\n")
    assert EDITOR.get_object(again, LOGS, (GLOBAL, ""), 1)["address"] == "192.0.2.3:514"


def test_all_are_deleted() -> None:
    assert "traces" not in EDITOR.delete(DOCUMENT, TRACES, None, "").text
