"""The one decision between live and reload, as rows: an edit of a file, and the commands or the reason it leads to."""

import pytest

from haproxy_native.planning.plan import plan
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join

COMMANDS = frozenset({"set server", "add server", "del server", "set maxconn", "enable agent"})
MODERN = Capabilities((3, 2), COMMANDS, "admin")
BASE = """\
global
  maxconn 100

defaults base
  mode http
  default-server inter 5s

frontend web
  maxconn 50
  bind 127.0.0.1:8080
  default_backend app

backend app
  balance roundrobin
  server s1 192.0.2.1:80 weight 10 check   # first
  server s2 192.0.2.2:80 maxconn 7

backend guarded
  .if feature(OPENSSL)
  server c1 192.0.2.7:80 weight 1
  .endif

frontend bare
  bind 127.0.0.1:8090

frontend guarded
  .if feature(LUA)
  maxconn 55
  .endif

backend templated
  default-server weight 2
  server-template t 3 192.0.2.8:80 rise 2
  default-server inter 3s
  server last 192.0.2.9:80

backend limited
  server m1 192.0.2.1:80 minconn 5 maxconn 10

frontend limiting
  maxconn 70
  default_backend limited
"""
LAST = "server s2 192.0.2.2:80 maxconn 7\n"
LIVE = [
    ("nothing", "weight 10", "weight 10", []),
    ("layout", "server s1 192.0.2.1:80 weight", "server   s1\t192.0.2.1:80    weight", []),
    ("comment", "# first", "# the first", []),
    ("units", "inter 5s", "inter 5000", []),
    ("blank lines", "\nbackend app", "\n\n\nbackend app", []),
    ("weight", "weight 10", "weight 20", ["set server app/s1 weight 20"]),
    ("no weight is weight 1", " weight 10", "", ["set server app/s1 weight 1"]),
    ("address", "192.0.2.1:80", "192.0.2.9:80", ["set server app/s1 addr 192.0.2.9 port 80"]),
    ("port", "192.0.2.1:80", "192.0.2.1:81", ["set server app/s1 addr 192.0.2.1 port 81"]),
    ("address and port are one command", "192.0.2.1:80", "[2001:db8::1]:81", ["set server app/s1 addr 2001:db8::1 port 81"]),
    ("maintenance", "check   #", "check disabled #", ["set server app/s1 state maint"]),
    ("no check any more", "check   #", "no-check   #", ["disable health app/s1", "set server app/s1 health up"]),
    ("limit of a server", "maxconn 7", "maxconn 8", ["set maxconn server app/s2 8"]),
    ("no limit", " maxconn 7", "", ["set maxconn server app/s2 0"]),
    ("check port", "check   #", "check port 9000 #", ["set server app/s1 check-port 9000"]),
    ("limit of a frontend", "maxconn 50", "maxconn 60", ["set maxconn frontend web 60"]),
    ("a limit where none was", ":8090\n", ":8090\n  # few\n  maxconn 70\n", ["set maxconn frontend bare 70"]),
    ("several servers", "weight 10 check   # first\n  server s2", "weight 3 check\n  server s2", ["set server app/s1 weight 3"]),
    ("deleted", "  " + LAST, "", ["set server app/s2 state maint", "del server app/s2"]),
    (
        "added, with what the defaults say",
        LAST,
        LAST + "  server s3 192.0.2.3:80 check\n",
        [
            "add server app/s3 192.0.2.3:80 check inter 5s",
            "enable health app/s3",
            "set server app/s3 state ready",
        ],
    ),
    ("said twice above servers", "80 rise 2\n", "80 rise 2\n  default-server weight 2\n", []),
    ("below the template", "default-server inter 3s", "default-server inter 3s weight 9", ["set server templated/last weight 9"]),
    ("added out of service", LAST, LAST + "  server s3 192.0.2.3:80 disabled\n", ["add server app/s3 192.0.2.3:80 inter 5s"]),
]
RELOADS = [
    ("a global line", "maxconn 100", "maxconn 101", "global", 2, "maxconn"),
    ("a line of a backend", "roundrobin", "leastconn", "backend app", 14, "balance"),
    ("a member no command changes", "weight 10", "weight 10 rise 3", "backend app", 15, "server"),
    ("a host name", "192.0.2.1:80", "app.example.com:80", "backend app", 15, "server"),
    ("the port taken away", "192.0.2.1:80", "192.0.2.1", "backend app", 15, "server"),
    ("a renamed server", "server s1", "server s0", "backend app", 15, "server"),
    ("a renamed section", "backend guarded", "backend other", "backend other", 18, "backend"),
    ("a value only HAProxy can resolve", "weight 10", 'weight "${W}"', "backend app", 15, "server"),
    ("an unknown word", "weight 10", "weight 10 fancy", "backend app", 15, "server"),
    ("a limit taken away", "  maxconn 50\n", "", "frontend web", 0, "maxconn"),
    ("a limit under a condition", "maxconn 55", "maxconn 56", "frontend guarded", 28, "maxconn"),
    ("a second limit", "  maxconn 50\n", "  maxconn 50\n  maxconn 60\n", "frontend web", 10, "maxconn"),
    ("a limit and more", ":8090\n", ":8090\n  maxconn 70\n  mode tcp\n", "frontend bare", 26, "mode"),
    (
        "a removed line above one that no command applies",
        "  maxconn 50\n  bind 127.0.0.1:8080\n",
        "  bind 127.0.0.1:8081\n",
        "frontend web",
        9,
        "bind",
    ),
    (
        "a removed line beside a changed server",
        "  balance roundrobin\n  server s1 192.0.2.1:80 weight 10",
        "  server s1 192.0.2.1:80 weight 20",
        "backend app",
        0,
        "balance",
    ),
    ("a bind", ":8080", ":8081", "frontend web", 10, "bind"),
    ("a server under a condition", "weight 1\n", "weight 2\n", "backend guarded", 20, "server"),
    ("the condition", "OPENSSL", "QUIC", "backend guarded", 19, ".if"),
    ("the defaults", "inter 5s", "inter 6s", "defaults base", 6, "default-server"),
    (
        "what the servers of a template inherit",
        "default-server weight 2",
        "default-server weight 3",
        "backend templated",
        33,
        "server-template",
    ),
    ("their number", "server-template t 3", "server-template t 4", "backend templated", 33, "server-template"),
    ("TLS", "weight 10 check", "weight 10 ssl verify none check", "backend app", 15, "server"),
    ("a limit beside minconn", "minconn 5 maxconn 10", "minconn 5 maxconn 12", "backend limited", 38, "server"),
    ("a limit beside minconn taken away", "minconn 5 maxconn 10", "minconn 5", "backend limited", 38, "server"),
    ("a limit that fullconn follows", "maxconn 70", "maxconn 80", "frontend limiting", 41, "maxconn"),
    ("text in front", "global\n", '.notice "x"\nglobal\n', "", 1, ""),
]


@pytest.mark.parametrize(("old", "new", "commands"), [row[1:] for row in LIVE], ids=[row[0] for row in LIVE])
def test_live(old: str, new: str, commands: list[str]) -> None:
    said = plan(Document.parse(BASE), Document.parse(BASE.replace(old, new, 1)), MODERN)
    assert said.reasons == []
    assert [each.text for each in said.commands] == commands


@pytest.mark.parametrize(("old", "new", "section", "line", "keyword"), [row[1:] for row in RELOADS], ids=[row[0] for row in RELOADS])
def test_reload(old: str, new: str, section: str, line: int, keyword: str) -> None:
    said = plan(Document.parse(BASE), Document.parse(BASE.replace(old, new, 1)), MODERN)
    assert not said.is_live
    assert [(each.section, each.line, each.keyword) for each in said.reasons][:1] == [(section, line, keyword)]


@pytest.mark.parametrize("on_first", [True, False])
def test_an_agent_is_set_while_it_is_on(on_first: bool) -> None:
    """HAProxy refuses it else."""
    off, on = "no-agent-check agent-port 9 disabled", "agent-check agent-port 8"
    before, after = (BASE.replace("maxconn 7", f"{words} weight 5") for words in ((off, on) if on_first else (on, off)))
    said = [each.text for each in plan(Document.parse(before), Document.parse(after), MODERN).commands]
    if on_first:
        assert said == ["enable agent app/s2", "set server app/s2 agent-port 8", "set server app/s2 state ready"]
    else:
        assert said == ["set server app/s2 state maint", "set server app/s2 agent-port 9", "disable agent app/s2"]


NAMES = [
    ("server s1", 'server "s1"', "weight 10", "weight 20", ["set server app/s1 weight 20"]),
    ("server s1", 'server "s1"', LAST, LAST + "  server s3 192.0.2.3:80 disabled\n", ["add server app/s3 192.0.2.3:80 inter 5s"]),
    ("\nbackend app", '\nbackend "app"', "weight 10", "weight 20", ["set server app/s1 weight 20"]),
    ("\nbackend app", "\nlisten app", "weight 10", "weight 20", ["set server app/s1 weight 20"]),
    ("frontend web", 'frontend "web"', "maxconn 50", "maxconn 60", ["set maxconn frontend web 60"]),
    ("server s1", 'server "${NAME}"', "weight 10", "weight 20", None),
    ("\nbackend app", '\nbackend "${NAME}"', "weight 10", "weight 20", None),
    ("frontend web", 'frontend "${NAME}"', "maxconn 50", "maxconn 60", None),
    ("check   #", 'agent-check agent-port 1 agent-send "x"', '"x"', '""', None),
    (LAST, LAST, LAST, LAST + '  server s3 192.0.2.3:80 cookie ""\n', None),
]


@pytest.mark.parametrize(("spelt", "so", "old", "new", "commands"), NAMES)
def test_names_and_words_as_haproxy_knows_them(spelt: str, so: str, old: str, new: str, commands: list[str] | None) -> None:
    """None: only a reload can say it."""
    before = BASE.replace(spelt, so, 1)
    said = plan(Document.parse(before), Document.parse(before.replace(old, new, 1)), MODERN)
    assert ([each.text for each in said.commands] if said.is_live else None) == commands


def test_what_servers_inherit_may_be_unknown() -> None:
    def why(text: str, *, preceded: bool) -> list[str]:
        new = text.replace("weight 10", "weight 20")
        return [reason.why for reason in plan(Document.parse(text), Document.parse(new), MODERN, preceded=preceded).reasons]

    assert why(BASE, preceded=True) == []
    alone = BASE.replace("defaults base", "#")
    assert why(alone, preceded=False) == []
    assert why(alone, preceded=True) == ["the servers may inherit from another file"]
    missing = BASE.replace("backend app", "backend app from elsewhere")
    assert why(missing, preceded=True) == ["the servers may inherit from another file"]
    for keyword in ('"$OFF"', '"dis${ABLED}"'):
        unknown = BASE.replace("  balance roundrobin\n", f"  balance roundrobin\n  {keyword}\n")
        assert why(unknown, preceded=False) == [f"only HAProxy can resolve the keyword {keyword.strip(chr(34))}"]
    under = "a server, or a line that it inherits, is in a conditional block"
    assert why(BASE.replace("frontend web\n", ".if feature(LUA)\nfrontend web\n") + ".endif\n", preceded=False) == [under]
    above = BASE.replace("defaults base\n", ".if feature(LUA)\ndefaults base\n").replace("frontend web\n", ".endif\nfrontend web\n")
    assert why(above, preceded=False) == [under]
    guarded = BASE.replace("  default-server inter 5s\n", "  .if feature(OPENSSL)\n  default-server weight 9\n  .endif\n")
    assert why(guarded, preceded=False) == ["a server, or a line that it inherits, is in a conditional block"]


def test_a_limit_inside_a_condition() -> None:
    guarded = BASE.replace("frontend web\n", ".if feature(LUA)\nfrontend web\n") + ".endif\n"
    assert plan(Document.parse(guarded), Document.parse(guarded.replace("maxconn 50", "maxconn 60")), MODERN).reasons


def test_order_of_sections() -> None:
    """That of proxies says nothing; over a section that acts while it is read it may."""
    head, app = BASE.partition("frontend web")[0], BASE[BASE.index("backend app\n  balance") : BASE.index("backend guarded")]
    plain = Document.parse(head + app + "backend other\n  balance first\n")
    moved = Document.parse(head + "backend other\n  balance first\n\n" + app.replace("weight 10", "weight 11"))
    assert [each.text for each in plan(plain, moved, MODERN).commands] == ["set server app/s1 weight 11"]
    above = Document.parse("backend other\n  balance first\n" + head + app)
    assert [(each.section, each.line, each.why) for each in plan(plain, above, MODERN).reasons] == [
        ("backend other", 1, "the order of the sections changed")
    ]


def test_order_of_servers_counts() -> None:
    lines = BASE.splitlines(keepends=True)
    lines[14], lines[15] = lines[15], lines[14]
    assert "order" in plan(Document.parse(BASE), Document.parse("".join(lines)), MODERN).reasons[0].why


@pytest.mark.parametrize("cannot", ["set server", "add server", "del server"])
def test_what_the_socket_does_not_permit_is_a_reload(cannot: str) -> None:
    weak = Capabilities((3, 2), COMMANDS - {cannot}, "admin")
    edits = {
        "set server": ("weight 10", "weight 20"),
        "add server": (LAST, LAST + "  server s3 192.0.2.3:80\n"),
        "del server": ("  " + LAST, ""),
    }
    assert not plan(Document.parse(BASE), Document.parse(BASE.replace(*edits[cannot], 1)), weak).is_live


def test_a_keyword_that_added_servers_do_not_take_is_a_reload() -> None:
    capabilities = Capabilities((3, 2), COMMANDS, "admin", frozenset({"check", "inter"}))
    new = BASE.replace(LAST, LAST + "  server s3 192.0.2.3:80 cookie x\n")
    assert "cookie" in plan(Document.parse(BASE), Document.parse(new), capabilities).reasons[0].why


def test_the_file_of_a_section_is_nothing_to_haproxy() -> None:
    head, tail = BASE.split("backend guarded")
    apart = Document.parse(join([(MAIN, head.encode()), ("b.cfg", b"# more\nbackend guarded" + tail.encode())]))
    assert plan(Document.parse(BASE), apart, MODERN).is_live
    loose = Document.parse(join([(MAIN, head.encode()), ("b.cfg", b".notice hi\nbackend guarded" + tail.encode())]))
    assert [reason.why for reason in plan(apart, loose, MODERN).reasons] == ["text before the first section changed"]
