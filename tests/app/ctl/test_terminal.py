"""What is shown on a terminal alone."""

import io
import os
import pty
import sys

import pytest

from dataplaneapi.ctl import terminal


def test_progress_is_one_line_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert terminal.has_colours(screen)
        with terminal.Progress() as progress:
            progress.say("half " + "x" * 500)
        shown = ""
        while shown.count(terminal.CLEAR) < 2:
            shown += os.read(ours, 10000).decode()
        monkeypatch.setenv("NO_COLOR", "1")
        assert not terminal.has_colours(screen) and terminal.is_terminal(screen)
        monkeypatch.setenv("TERM", "dumb")
        assert not terminal.is_terminal(screen)
    os.close(ours)
    assert shown.startswith(f"{terminal.CLEAR}half ") and shown.endswith(terminal.CLEAR) and "\n" not in shown
    assert len(shown) < 200


def test_a_file_is_shown_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with terminal.Progress() as progress:
        progress.say("half")
    assert (file.getvalue(), terminal.has_colours(file)) == ("", False)
