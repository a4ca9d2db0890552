"""What is shown on a terminal alone."""

import io
import os
import pty
import subprocess
import sys
import unicodedata

import pytest

from dataplaneapi.ctl import output
from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND

# Of the control characters a terminal gets these two.
PLAIN = "\n\t"
BIDIRECTIONAL = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


CLEAR = output.CLEAR.replace(output.ESCAPE, "\x1b")


def test_no_control_character_of_others_reaches_a_terminal() -> None:
    controls = [chr(number) for number in range(sys.maxunicode) if unicodedata.category(chr(number)) in ("Cc", "Zl", "Zp", "Cs")]
    directions = [chr(number) for number in range(0x10000) if unicodedata.bidirectional(chr(number)) in BIDIRECTIONAL]

    for character in {*controls, *directions, "\u200e", "\u200f"} - {*PLAIN}:
        with Terminal() as screen:
            output.Output(screen).write(f"{character}{output.ESCAPE}[32mup{output.ESCAPE}[0m")
            text, _, rest = screen.getvalue().partition("\x1b")
        assert text == f"\\u{ord(character):04x}" and rest == "[32mup\x1b[0m", ascii(character)


def test_a_file_gets_what_is_stored() -> None:
    with io.StringIO() as file:
        output.Output(file).write(f"\x1b[2J\u202e\udcff{output.ESCAPE}[0m")
        assert file.getvalue() == "\x1b[2J\u202e\\udcff\x1b[0m"


def test_what_others_have_stored_moves_no_cursor(ctl: Ctl, sidecar: Quick) -> None:
    evil = "\x1b]0;title\x07\x9b2J\u202e\r"
    text = sidecar.text().replace("# the shop\n", f"# the shop {evil}\n")
    pushed = sidecar.post("raw", text, skip_version=True, force_reload=True)
    assert pushed.status_code < 300, pushed.text

    def shown(*words: str) -> str:
        ours, theirs = pty.openpty()
        environment = {**ctl.environment, "TERM": "xterm", "NO_COLOR": "1"}
        subprocess.run([str(COMMAND), "ctl", *words], env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, check=False)
        os.close(theirs)
        found = os.read(ours, 65536).decode()
        os.close(ours)
        return found.replace("\r\n", "\n")

    for words in (("get", "backend/shop", "-o", "cfg"), ("get", f"backend/{evil}"), ("history", "--limit", "1")):
        found = shown(*words)
        assert not {character for character in evil if character in found and not character.isprintable()}, ascii(found)
    assert evil.strip() in ctl.output("get", "backend/shop", "-o", "cfg")


def test_progress_is_one_line_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as screen:
        monkeypatch.setattr(sys, "stderr", output.Output(screen))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert output.has_colours(screen)
        with output.Progress() as progress:
            progress.show("half " + "x" * 500)
        shown = ""
        while shown.count(CLEAR) < 2:
            shown += os.read(ours, 10000).decode()
        monkeypatch.setenv("NO_COLOR", "1")
        assert not output.has_colours(screen) and output.is_terminal(screen)
        monkeypatch.setenv("TERM", "dumb")
        assert not output.is_terminal(screen)
    os.close(ours)
    assert shown.startswith(f"{CLEAR}half ") and shown.endswith(CLEAR) and "\n" not in shown
    assert len(shown) < 200


def test_a_file_is_shown_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with output.Progress() as progress:
        progress.show("half")
    assert (file.getvalue(), output.has_colours(file)) == ("", False)
