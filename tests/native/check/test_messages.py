"""HAProxy's words become the protocol's text, and point at the line and section meant."""

import itertools

import pytest

from haproxy_native.check.messages import Origin, format_alerts, locate, parse_messages, source_lines
from haproxy_native.text.document import Document

TEXT = "# top\n\nglobal\n  maxconn lots\n\n# about a\nbackend a\n  server s1\n  balance by-luck"
DRAFT, FILE = "/etc/.haproxy.cfg.1", "/etc/haproxy.cfg"


@pytest.mark.parametrize(
    ("stderr", "text"),
    [
        (f"[ALERT]    (42) : config : parsing [{DRAFT}:9] : unknown 'x'\n", f"msg=\"config parsing [{DRAFT}:9] unknown 'x'\""),
        ("[ALERT] (1) : config : the word is forbidden", 'msg="config the word is forbidden"'),
        ("[ALERT] 123/101112 (42) : parsing [/f:9] : unknown : one\n", 'line=9 msg="unknown one"'),
        ("[ALERT] 123/101112 (42) : parsing [/f:x] : unknown\n", 'msg="unknown"'),
        ("[ALERT] 123/101112 (42) : parsing [/f:9]\n", 'msg="parsing [/f:9]"'),
        ("[ALERT] nothing more", ""),
        ("[WARNING] (1) : config : old\n[NOTICE] (1) : hello\nelse\n", ""),
        ('[ALERT] (1) : a "b"\n[ALERT] (1) : c', 'msg="a "b""\nmsg="c"'),
        ("[ALERT] (1) : x : fatal errors found in configuration.", ""),
        ("[ALERT] (1) : x : error(s) found in configuration file : /f", ""),
        ("[ALERT] (1) : config : Fatal errors found in configuration.", 'msg="config Fatal errors found in configuration."'),
    ],
)
def test_recorded(stderr: str, text: str) -> None:
    assert format_alerts(stderr) == text


def test_endless_alerts_end() -> None:
    text = format_alerts("".join(f"[ALERT] (1) : config : {'x' * 5000}{i}\n" for i in range(300)))
    assert text.endswith('\nmsg="and 100 more"')
    assert len(text) < 500_000


def test_alerts_are_located() -> None:
    said = parse_messages(
        f"[NOTICE]   (7) : haproxy version is 9\n[WARNING]  (7) : config : parsing [{DRAFT}:4] : old\n"
        f"[ALERT]    (7) : config : [{DRAFT}:8] : 'server' expects\n[ALERT]    (7) : config : Proxy 'a': bad (at {DRAFT}:9).\n"
        f"[ALERT]    (7) : config : parsing [/other:3] : bad\n[ALERT]    (7) : config : bad\n",
        {DRAFT: Origin(FILE, Document.parse(TEXT))},
    )
    assert [message.as_dict() for message in said] == [
        {"level": "notice", "text": "haproxy version is 9"},
        {
            "level": "warning",
            "text": f"config : parsing [{FILE}:4] : old",
            "file": FILE,
            "line": 4,
            "section": "global",
            "source": "maxconn lots",
        },
        {
            "level": "alert",
            "text": f"config : [{FILE}:8] : 'server' expects",
            "file": FILE,
            "line": 8,
            "section": "backend a",
            "source": "server s1",
        },
        {
            "level": "alert",
            "text": f"config : Proxy 'a': bad (at {FILE}:9).",
            "file": FILE,
            "line": 9,
            "section": "backend a",
            "source": "balance by-luck",
        },
        {"level": "alert", "text": "config : parsing [/other:3] : bad", "file": "/other", "line": 3},
        {"level": "alert", "text": "config : bad"},
    ]
    assert source_lines([message for message in said if message.level == "alert"]) == (
        "\nline 8 in 'backend a': server s1\nline 9 in 'backend a': balance by-luck"
    )


def test_locate_agrees_with_counting() -> None:
    document = Document.parse(TEXT)
    for number, line in enumerate(TEXT.split("\n"), 1):
        section, source = locate(document, number)
        assert source in (None, line.strip())
        assert (source is None) == (number in (1, 2, 6))
        assert section == (None if number < 3 else "global" if number < 6 else "backend a")
    assert locate(document, 0) == (None, None)
    assert locate(document, 10) == ("backend a", None)
    assert locate(Document.parse("x\n"), 5) == (None, None)


def test_of_many_messages_the_alerts_are_kept() -> None:
    """In their order; warnings fill what room there is."""
    warnings = "".join(f"[WARNING]  (7) : config : w{number}\n" for number in range(300))
    said = parse_messages(f"{warnings}[ALERT] (7) : config : bad\n{warnings}[ALERT] (7) : config : worse\n", {})
    assert [message.text for message in said if message.level == "alert"] == ["config : bad", "config : worse"]
    assert [message.text for message in said][:2] == ["config : w0", "config : w1"]
    assert len(said) == 200
    said = parse_messages(warnings + "[ALERT] (7) : config : bad\n" * 300, {})
    assert {message.level for message in said} == {"alert"}


def test_a_warning_for_each_of_many_sections_is_found_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document.parse("".join(f"backend b{number}\n  server s 127.0.0.1:1\n\n" for number in range(300)))
    passes: list[int] = []
    accumulate = itertools.accumulate
    monkeypatch.setattr("itertools.accumulate", lambda *words, **named: passes.append(1) or accumulate(*words, **named))
    warnings = "".join(f"[WARNING]  (7) : config : parsing [{DRAFT}:{3 * number + 2}] : old\n" for number in range(300))
    said = parse_messages(warnings, {DRAFT: Origin(FILE, document)})
    assert [message.section for message in said] == [f"backend b{number}" for number in range(200)]
    assert len(passes) == 1
