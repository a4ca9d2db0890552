"""Listeners hear everything, and one that fails harms nobody."""

import logging

import pytest

from haproxy_native.events import Event, Events, Validated


def test_all_listeners_hear_an_event(caplog: pytest.LogCaptureFixture) -> None:
    events, heard = Events(), []

    def broken(event: Event) -> None:
        raise ValueError("broken")

    events.listen(broken)
    events.listen(heard.append)
    with caplog.at_level(logging.ERROR):
        events.tell(Validated("accepted", 0.1))
    assert heard == [Validated("accepted", 0.1)]
    assert "Validated was not taken" in caplog.text
