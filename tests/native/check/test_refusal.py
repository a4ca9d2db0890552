"""A refusal begins with one line that says what and where, made of what real HAProxys say."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import LONGEST_SUMMARY, Message, Origin, add_places, summarize
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


@pytest.mark.parametrize("version", [pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
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


@pytest.mark.parametrize(
    ("version", "text", "hint"),
    [
        ("2.6", "global\n  tune.h2.log-errors none\n", 'HAProxy 3.2 knows "tune.h2.log-errors", and this one is 2.6.'),
        ("3.0", "global\n  tune.h2.log-errors none\n", 'HAProxy 3.2 knows "tune.h2.log-errors", and this one is 3.0.'),
        ("3.0", "traces\n  trace h1 sink stderr\n", 'HAProxy 3.2 knows "traces"'),
        ("2.8", "crt-store s\n  crt-base /x\n", 'HAProxy 3.0 knows "crt-store"'),
        ("3.2", "frontend f\n  mode http\n  filter-sequence request a\n", 'HAProxy 3.4 knows "filter-sequence"'),
        ("2.6", "backend b\n  server s 127.0.0.1:1 guid g\n", 'HAProxy 3.0 knows "guid"'),
        ("2.6", "frontend f\n  mode http\n  http-request set-bandwidth-limit x\n", 'HAProxy 2.8 knows "set-bandwidth-limit"'),
        ("3.2", "global\n  tune.h2.log-errorz none\n", "tune.h2.log-errors"),
        ("3.0", "frontend f\n  mode http\n  use_backend %[path,map(/nowhere.map,b)]\n", "'map' : failed to open pattern file"),
        ("2.6", "frontend f\n  mode http\n  use_backend %[path,map(/nowhere.map,b)]\n", "'map' : failed to open pattern file"),
    ],
)
def test_a_word_of_a_later_version_is_named_with_it(tmp_path: Path, version: str, text: str, hint: str) -> None:
    line = str(refused(tmp_path, text, binaries.exactly(version))).splitlines()[0]
    assert hint in line, line
    assert (" knows " in line) == (" knows " in hint), line


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
    line = summarize([alert], {})
    assert len(line) == LONGEST_SUMMARY
    assert line.startswith("line 3 of ")
    assert line.endswith("x")


# A comment and a string hold the words of refusals, to which no refusal leads.
TRAPS = """\
global
  # bk_apj s9 m2 default_backend 'none' use-server
defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend web
  bind 127.0.0.1:1
{front}
backend bk_api
  acl is_admin path /x "bk_apj" s9
  server s1 127.0.0.1:80 # m2 s9 use-server s9
{back}
{more}
"""
FRONT, BACK = 10, 14
# What is wrong in the frontend, in the backend or behind them; the line that is at fault, 0 for none that is sure; and the hint.
ROWS = [
    ("  default_backend bk_apj", "", "", FRONT, "bk_api"),
    ("  use_backend bk_apj if TRUE", "", "", FRONT, "bk_api"),
    ("  use_backend bk_apj if TRUE\n  use_backend bk_apj", "", "", 0, "bk_api"),
    ("  default_backend web", "", "", FRONT, ""),
    ("", "  use-server s9 if TRUE", "", BACK, ""),
    ("", "  use-server s11 if TRUE\n  server s111 127.0.0.1:9", "", BACK, "s111"),
    ("", "  stick on src table bk_apj", "", BACK, ""),
    ("  http-request track-sc0 src table bk_apj", "", "", FRONT, ""),
    ("  http-request track-sc0 src table tabel", "", "backend table\n  stick-table type ip size 1", FRONT, "table"),
    ("", "  server s2 127.0.0.1:1 track s9", "", BACK, ""),
    ("", "  server s22 127.0.0.1:1 track bk_apj/s1", "", BACK, "bk_api"),
    ("", "  server s22 127.0.0.1:1 track bk_api/s222", "", BACK, ""),
    ("", "  server s2 192.0.2.1:1 resolvers dnss", "resolvers dns\n  nameserver a 127.0.0.1:53", BACK, "dns"),
    ("", "  email-alert mailers m2\n  email-alert from a@b\n  email-alert to a@b", "", BACK, ""),
    ("", "  stick-table type ip size 1k peers peerz", "peers peers\n  peer a 127.0.0.1:5555", BACK, "peers"),
    ("  filter cache smal\n  http-request cache-use smal", "", "cache small\n  total-max-size 4", FRONT, "small"),
    ("", "  use-fcgi-app ap2", "", BACK, ""),
    ("", "  server s2 127.0.0.1 check", "", BACK, ""),
    ("", "  option external-check\n  external-check command /x", "", BACK, ""),
    ("  http-request do-resolve(txn.x,dns9) src", "", "", 0, ""),
    ("", "", "userlist u\n  user alan insecure-password x\n  group g users alam", BACK + 3, "alan"),
    ("", "", "userlist u\n  group grup\n  user a insecure-password x groups grip", BACK + 3, "grup"),
    ("  bind 127.0.0.1:2 ssl", "", "", FRONT, ""),
    ("  bind 127.0.0.1:2 ssl crt /none.pem", "", "", FRONT, ""),
    ("  bind 127.0.0.1:2 nonsense", "", "", FRONT, ""),
    ("  bind [::1]", "", "", FRONT, ""),
    ("  acl a http_auth(ul2)\n  http-request auth unless a", "", "", FRONT, ""),
    ("  http-request deny if { path -f /none }", "", "", FRONT, ""),
    ("", "  balance rondrobin", "", BACK, "roundrobin"),
    ("", "  timeout conect 5s", "", BACK, "connect"),
    ("", "  load-server-state-from-file globl", "", BACK, "global"),
    ("", "  hash-type consistnt", "", BACK, "consistent"),
    ("", "  http-reuse alwys", "", BACK, "always"),
    ("  capture request header x", "", "", FRONT, ""),
    ("  http-request deny if is_admn", "", "", FRONT, ""),
    ("", "  http-request deny if is_admn", "", BACK, "is_admin"),
    ("", "  server s1 127.0.0.1:3", "", BACK, ""),
    ("", "", "backend x from none", BACK + 1, ""),
    ("", "", "defaults basis\nbackend x from bassi", BACK + 2, "basis"),
]


@pytest.mark.parametrize(
    "version", ["2.6", pytest.param("3.0", marks=pytest.mark.soak), pytest.param("3.2", marks=pytest.mark.soak), "3.4"]
)
def test_places_and_hints(tmp_path: Path, version: str) -> None:
    """A place is where the mistake is, or none; a hint corrects a word that does not exist by one that exists at that place."""
    wrong = []
    for front, back, more, line, hint in ROWS:
        text = TRAPS.format(front=front, back=back, more=more)
        said = str(refused(tmp_path, text, binaries.exactly(version))).splitlines()[0].removeprefix("validation error: ")
        has_place = said.startswith(f"line {line} of ") if line else not said.startswith("line ")
        hints = said.partition('; did you mean "')[2].removesuffix('"?')
        if not has_place or hints != hint:
            wrong.append((front, back, more, said))
    assert wrong == []


def test_reasons_appear_although_the_text_says_quiet(tmp_path: Path, haproxy_binaries: str) -> None:
    text = TRAPS.replace("global\n", "global\n  quiet\n").format(front="  default_backend bk_apj", back="", more="")
    said = str(refused(tmp_path, text, Path(haproxy_binaries)))
    assert said.startswith("validation error: line 11 of haproxy.cfg, in 'frontend web': ")
    assert "unable to find required default_backend: 'bk_apj'" in said


def test_a_place_in_another_file(tmp_path: Path) -> None:
    """Files that are loaded together have their own line numbers, and sections of one name may stand in each of them."""
    texts = {
        "a": TRAPS.format(front="", back="", more=""),
        "b": "frontend other\n  bind :1\n  default_backend none\n",
        "c": "userlist none\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [Checked(tmp_path / name, Path(f"/etc/{name}.cfg"), Document.parse(text.encode())) for name, text in texts.items()]
    with pytest.raises(Refused) as error:
        asyncio.run(check(files, CheckSettings(binaries.newest())))
    assert str(error.value).startswith("validation error: line 3 of b.cfg, in 'frontend other': Proxy 'other': unable")
    assert "did you mean" not in str(error.value)


def test_what_cannot_be_placed_is_told_without_a_place() -> None:
    alert = Message("alert", "Proxy 'web': unable to find required default_backend: 'gone'.")
    origins = {"/f": Origin("/f", Document.parse(b"frontend other\n  bind :1\n"))}
    assert add_places([alert], origins) == [alert]
    assert summarize([alert], origins) == "Proxy 'web': unable to find required default_backend: 'gone'"
    assert summarize([], origins) == ""
