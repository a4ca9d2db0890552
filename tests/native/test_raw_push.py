"""A text that was sent becomes a change of one file."""

import asyncio
from typing import Any

import pytest

from haproxy_native.commit.change import Change
from haproxy_native.errors import BadRequest
from haproxy_native.raw_push import raw_push
from haproxy_native.text.document import MARK, Document

BODY = b"# _version=7\nglobal\n\nbackend b\n"


def pushed(body: bytes = BODY, **options: Any) -> Change:
    given = {"skip_version": False, "skip_reload": False, "force_reload": False, "actions": "", "instead_of": None, **options}
    return asyncio.run(raw_push(body, "", **given))


def test_our_own_version_lines_are_left_out_unless_the_text_brings_the_next_version() -> None:
    before = Document.parse("global\n")
    assert pushed().edit(before).text == "global\n\nbackend b\n"
    assert pushed(skip_version=True).edit(before).text == BODY.decode()
    assert (pushed().keeps_version, pushed(skip_version=True).keeps_version) == (False, True)


def test_without_a_reload_none_is_forced_and_actions_are_carried_out() -> None:
    quiet, forced = pushed(skip_reload=True, force_reload=True, actions="show info"), pushed(force_reload=True, actions="show info")
    assert (quiet.force_reload, quiet.actions) == (False, "show info")
    assert (forced.force_reload, forced.actions) == (True, "")


def test_the_caller_may_refuse_what_it_would_replace() -> None:
    def refuse(document: Document) -> None:
        raise BadRequest(f"not instead of {document.text}")

    with pytest.raises(BadRequest, match="not instead of global"):
        pushed(instead_of=refuse).edit(Document.parse("global\n"))


def test_a_mark_of_another_file_is_refused() -> None:
    with pytest.raises(BadRequest, match="NUL character"):
        pushed(MARK.encode() + BODY)
