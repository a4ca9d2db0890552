"""A refusal begins with one line that says what and where, made of what real HAProxys say."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message, Origin
from haproxy_native.check.refusal import LONGEST, first_line, located
from haproxy_native.errors import Refused
from haproxy_native.text.document import Document
from tests.haproxy import binaries

TEXT = """\
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s

frontend web
  bind 127.0.0.1:1
  {front}

backend bk_api
  acl is_admin path /x
  server s1 127.0.0.1:80
  {back}
"""


def refused(directory: Path, text: str, binary: Path, shift: int = 0) -> Refused:
    file = directory / "draft.cfg"
    file.write_text(text)
    files = [Checked(file, Path("/etc/haproxy.cfg"), Document.parse(text.encode()), shift=shift)]
    with pytest.raises(Refused) as error:
        asyncio.run(check(files, CheckSettings(str(binary))))
    return error.value


@pytest.mark.parametrize("version", ["2.6", "3.4"])
@pytest.mark.parametrize(
    ("front", "back", "where", "hint"),
    [
        ("http-request dney if TRUE", "", "line 9 of haproxy.cfg, in 'frontend web': ", 'did you mean "deny"?'),
        ("default_backend bk_apj", "", "line 9 of haproxy.cfg, in 'frontend web': ", 'did you mean "bk_api"?'),
        ("use_backend bk_apj if TRUE", "", "line 9 of haproxy.cfg, in 'frontend web': ", 'did you mean "bk_api"?'),
        ("", "http-request deny if is_admn", "line 14 of haproxy.cfg, in 'backend bk_api': ", 'did you mean "is_admin"?'),
        ("", "server s2 127.0.0.1:80 chek", "line 14 of haproxy.cfg, in 'backend bk_api': ", 'did you mean "check"'),
        ("", "timeout conect 5s", "line 14 of haproxy.cfg, in 'backend bk_api': ", 'did you mean "connect"?'),
        ("", "balance rondrobin", "line 14 of haproxy.cfg, in 'backend bk_api': ", 'did you mean "roundrobin"?'),
        ("", "server s2 127.0.0.1:80 weight 999", "line 14 of haproxy.cfg, in 'backend bk_api': ", "256"),
        ("", "use-server s9 if TRUE", "line 14 of haproxy.cfg, in 'backend bk_api': ", "s9"),
    ],
)
def test_the_first_line(tmp_path: Path, version: str, front: str, back: str, where: str, hint: str) -> None:
    error = refused(tmp_path, TEXT.format(front=front, back=back), binaries.exactly(version))
    line, *others = str(error).splitlines()
    assert line.startswith(f"validation error: {where}"), line
    assert hint.rstrip("?").lower() in line.lower().replace("'", '"'), "HAProxy's own hint, or ours"
    assert len(line) <= 300
    assert others[0].startswith("exit status 1: "), "then HAProxy's own words"
    assert "draft.cfg" not in str(error)


def test_lines_are_those_of_the_sender(tmp_path: Path) -> None:
    """Two lines of a header were put above what was sent."""
    text = "# _md5hash=0\n# _version=2\n" + TEXT.format(front="http-request dney", back="")
    error = refused(tmp_path, text, binaries.exactly("3.4"), shift=2)
    assert "line 9 of haproxy.cfg, in 'frontend web'" in str(error).splitlines()[0]
    assert "[/etc/haproxy.cfg:9]" in str(error)
    assert "line 9 in 'frontend web': http-request dney" in str(error)
    (alert, *_) = error.alerts
    assert isinstance(alert, Message)
    assert (alert.line, alert.source) == (9, "http-request dney")


def test_a_long_section_name_leaves_room() -> None:
    alert = Message("alert", "config : parsing [/f:3] : " + "x" * 5000, "/" + "f" * 300, 3, f"backend {'b' * 5000}", "source")
    line = first_line([alert], {})
    assert len(line) == LONGEST
    assert line.startswith("line 3 of ")
    assert line.endswith("x")


def test_what_cannot_be_placed_is_told_without_a_place() -> None:
    alert = Message("alert", "Proxy 'web': unable to find required default_backend: 'gone'.")
    origins = {"/f": Origin("/f", Document.parse(b"frontend other\n  bind :1\n"))}
    assert located([alert], origins) == [alert]
    assert first_line([alert], origins) == "Proxy 'web': unable to find required default_backend: 'gone'"
    assert first_line([], origins) == ""
