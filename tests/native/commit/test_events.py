"""Listeners hear everything, and one that fails harms nobody."""

import getpass
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.events import Committed, Edited, Event, Events, Validated
from haproxy_native.commit.ports import Begun, Recorder
from haproxy_native.engine import Engine
from haproxy_native.errors import Refused
from haproxy_native.request_context import NOBODY, OUTSIDE, Author
from haproxy_native.text.document import Document
from tests.native.engines import ByFunction, adding, run, running_engine


def test_all_listeners_hear_an_event(caplog: pytest.LogCaptureFixture) -> None:
    events, heard = Events(), []

    def broken(event: Event) -> None:
        raise ValueError("broken")

    events.listen(broken)
    events.listen(heard.append)
    with caplog.at_level(logging.ERROR):
        events.publish(Validated("accepted", 0.1))
    assert heard == [Validated("accepted", 0.1)]
    assert "a listener failed on Validated" in caplog.text


AUTHOR = Author("ci", "10.0.0.1", "7", "more of it")


def refused(document: Document) -> Document:
    raise Refused("no")


def heard(engine: Engine) -> list[Event]:
    events: list[Event] = []
    engine.context.events.listen(events.append)
    return events


def test_a_commit_is_an_event_with_its_change_and_its_effects(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            events = heard(engine)
            outcome = await commit(engine.context, Change([ByFunction(adding("b"))], Version(1), author=AUTHOR))
            with pytest.raises(Refused):
                await commit(engine.context, Change([ByFunction(refused)], author=AUTHOR))
            done, failed = (event for event in events if isinstance(event, Committed))
            assert (done.outcome, done.result, done.change and done.change.author) == ("scheduled", outcome, AUTHOR)
            assert (outcome.former, outcome.version) == (1, 2)
            assert [(each.object, each.old) for each in done.effects] == [("backend/b", None)]
            assert (failed.outcome, failed.result, str(failed.error), failed.effects) == ("failed", None, "validation error: no", ())

    run(work())


def test_an_entry_is_begun_before_a_change_and_ended_before_it_is_answered(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            events, entries = heard(engine), list[tuple[str, int]]()

            class Recording(Recorder):
                async def begin(self, change: Change, intended: Outcome) -> Begun:
                    assert not entries and engine.context.lock.locked() and (tmp_path / "haproxy.cfg").read_text() == "global\n"
                    entries.append((change.author.name, intended.version))
                    return Begun(change, intended)

                def end(self, begun: Begun, outcome: Outcome) -> Outcome:
                    assert entries and engine.context.lock.locked() and "backend b" in (tmp_path / "haproxy.cfg").read_text()
                    assert not [event for event in events if isinstance(event, Committed)]
                    return replace(outcome, entry=7)

            engine.context.recorder = Recording()
            assert (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).entry == 7
            assert entries == [("", 2)] and [event for event in events if isinstance(event, Committed)]

    run(work())


def test_an_edit_from_outside_is_an_event_with_the_owner_of_the_file(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "haproxy.cfg"
        path.write_text("global\n")
        async with running_engine(tmp_path) as engine:
            events = heard(engine)
            path.write_text("global\n# by hand\n")
            assert await engine.notice()
            (edited,) = events
            assert isinstance(edited, Edited)
            assert (edited.path, edited.owner, edited.author, edited.versions) == (path, getpass.getuser(), Author(OUTSIDE), (1, 2))
            assert [text.text for text in edited.texts] == ["global\n", "global\n# by hand\n"]

    run(work())
