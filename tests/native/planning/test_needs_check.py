"""Which changes the running HAProxy judges by their commands; `haproxy -c` agrees with each that is not checked."""

import pytest

from haproxy_native.planning.needs_check import MOST_WORDS, needs_check
from haproxy_native.planning.plan import plan
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join
from tests.native.planning.test_plan import MODERN

CONFIG = """\
# the operators' own
global
  maxconn 100

# for all
defaults base
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  default-server inter 2s

frontend web from base
  bind 127.0.0.1:8080
  maxconn 10
  default_backend app

listen both from base
  bind 127.0.0.1:8081
  maxconn 10
  server one 127.0.0.1:1

backend app from base
  server s1 127.0.0.1:1 weight 10 maxconn 5 check # kept
  server s2 [::1]:2
  server s3 app.example.com:3 weight 10 init-addr none
  server s4 127.0.0.1:4 source 127.0.0.1 frobnicate weight 10
"""
UNCHECKED = [
    ("weight 10 maxconn", "weight 256 maxconn"),
    ("weight 10 maxconn", "weight 0 maxconn"),
    ("weight 10 maxconn", "maxconn"),
    ("weight 10 maxconn 5", "maxconn 7 weight 3"),
    ("maxconn 5", "maxconn 2147483647"),
    ("s2 [::1]:2", "s2 [::1]:2 weight 7"),
    ("s2 [::1]:2", "s2 [::1]:2 disabled"),
    ("s2 [::1]:2", "s2 [2001:db8::1]:65535"),
    ("s2 [::1]:2", "s2 192.0.2.1:2"),
    ("one 127.0.0.1:1", "one 127.0.0.2:2"),
    ("  maxconn 10\n  default_backend", "  maxconn 20\n  default_backend"),
    ("8081\n  maxconn 10", "8081\n  maxconn 20"),
    ("example.com:3 weight 10", "example.com:3 weight 11"),
]
CHECKED = [
    # Another word, comment, line or layout of lines, also beside one that needs no check.
    ("weight 10 maxconn 5 check", "weight 11 maxconn 5 check inter 3s"),
    ("weight 10 maxconn 5 check # kept", "weight 11 maxconn 5 check # changed"),
    ("weight 10 maxconn 5 check # kept", "weight 11 maxconn 5 check"),
    ("frobnicate weight 10", "frobnicates weight 11"),
    ("weight 10 maxconn 5 check # kept\n", "weight 11 maxconn 5 check # kept\n# a line\n"),
    ("weight 10 maxconn 5 check # kept\n", "weight 11 maxconn 5 check # kept\n\n"),
    ("default-server inter 2s", "default-server inter 2s weight 3"),
    ("s2 [::1]:2", "s2 [::1]:2 weight 7 rise 3"),
    # Values that only HAProxy can judge, or that file and socket read otherwise.
    ("weight 10 maxconn", "weight 257 maxconn"),
    ("weight 10 maxconn", "weight 0x10 maxconn"),
    ("weight 10 maxconn", "weight +9 maxconn"),
    ("weight 10 maxconn", "weight 1_1 maxconn"),
    ("weight 10 maxconn", "weight 5x maxconn"),
    ("weight 10 maxconn", "weight 50% maxconn"),
    ("weight 10 maxconn", "weight 999 weight 9 maxconn"),
    ("weight 10 maxconn", 'weight "${W}" maxconn'),
    ("maxconn 5", "maxconn 2147483648"),
    ("maxconn 5", "maxconn -1"),
    ("s2 [::1]:2", "s2 [::1]:65536"),
    ("s2 [::1]:2", "s2 [::1]:+2 weight 3"),
    ("s2 [::1]:2", "s2 localhost:2"),
    ("s2 [::1]:2", "s2 127.1:2"),
    ("app.example.com:3", "other.example.com:3"),
    # Nothing to do, or not by commands.
    ("  server s2", "    server s2"),
    ("timeout client 5s", "timeout client 6s"),
    ("# the operators' own", "# our own"),
]
NEEDED = [("# for all\n", "# for each\n"), ("# the operators' own", "# our own")]


def changed(*edits: tuple[str, str]) -> tuple[Document, Document]:
    text = CONFIG
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return Document.parse(CONFIG), Document.parse(text)


def needed(before: Document, new: Document) -> bool:
    planned = plan(before, new, MODERN)
    return needs_check(before, new) or bool(planned.reasons) or not planned.commands


@pytest.mark.parametrize("edit", UNCHECKED)
def test_words_that_need_no_check(edit: tuple[str, str]) -> None:
    assert not needed(*changed(edit))


@pytest.mark.parametrize("edit", CHECKED)
def test_everything_else(edit: tuple[str, str]) -> None:
    assert needed(*changed(edit))


@pytest.mark.parametrize("other", NEEDED)
def test_everything_else_beside_a_word_that_needs_none(other: tuple[str, str]) -> None:
    assert needed(*changed(UNCHECKED[0], other))


def test_what_stands_before_the_first_section_of_another_file() -> None:
    before, new = (Document.parse(join([(MAIN, CONFIG.encode()), ("b.cfg", f"{top}backend b\n".encode())])) for top in ("# ours\n", ""))
    assert needed(before, new)


def test_several_words_at_once() -> None:
    assert not needed(*changed(UNCHECKED[0], UNCHECKED[5], UNCHECKED[9]))


def test_the_header_says_nothing() -> None:
    before, new = changed(UNCHECKED[0])
    assert not needed(before, Document.parse(f"# _md5hash={'0' * 32}\n# _version=7\n{new.text}"))


def test_a_line_grows_only_as_long_as_haproxy_surely_takes_it() -> None:
    long = " ".join(["weight 10", *["fall 3"] * (MOST_WORDS // 2)])
    before = Document.parse(CONFIG.replace("s2 [::1]:2", f"s2 [::1]:2 {long}"))
    assert needed(before, Document.parse(before.text.replace(long, f"{long} maxconn 3")))
    assert not needed(before, Document.parse(before.text.replace(long, long.replace("weight 10", "weight 11"))))
