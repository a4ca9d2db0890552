"""Shapes of backends: whole copies of what a backend inherits and says, in a file that binds no other section."""

import subprocess
from pathlib import Path

import pytest

from haproxy_native.editing.bindings import all_implicit
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import resources
from haproxy_native.editing.shape_file import parted, shapes_of
from haproxy_native.planning.plan import plan
from haproxy_native.planning.shapes import Shapes
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.parts import SHAPES
from tests.acceptance.effective import differences, effective, fresh
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.native.planning.test_backend_plan import MODERN

HEAD = """\
global
  stats socket {stats} level admin

defaults base
  mode http
  retries 3
  option httplog
  timeout connect 1s
  timeout client 1s
  timeout server 1s

"""
CORPUS = sorted(Path("tests/corpus").glob("*/*.cfg"))


def with_file(text: str, shapes: str = "") -> Document:
    return Document.parse(parts.join([(parts.MAIN, text.encode("utf-8", "surrogateescape")), (f"/conf/{SHAPES}", shapes.encode())]))


def provided(text: str, most: int = 10, shapes: str = "", without: frozenset[str] = frozenset()) -> list[str]:
    document = Shapes(MODERN.backend_keywords).provided(with_file(text, shapes), most, without)
    return [each.text for each in shapes_of(document)]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()[1:] if line.strip()]


def test_what_is_inherited_and_what_is_said() -> None:
    (shape,) = provided(HEAD + "backend b from base\n  balance leastconn # so\n  guid b:1\n  retries 5\n  server s 192.0.2.1:80\n")
    inherited = ["mode http", "retries 3", "option httplog", "timeout connect 1s", "timeout client 1s", "timeout server 1s"]
    assert lines(shape) == [*inherited, "balance leastconn", "retries 5"]


def test_one_of_a_section_without_a_name() -> None:
    assert len(provided("defaults\n  mode http\nbackend b\n  server s 192.0.2.1:80\nbackend c\n  server s 192.0.2.2:80\n")) == 1


@pytest.mark.parametrize(
    "own",
    [
        "server s 192.0.2.1:80",
        "retries 3",
        "guid b:1",
        "id 7",
        "stick-table type ip size 1k",
        "use-server s if TRUE",
        "description text",
        "unheard of",
        "option httplog",
        ".if feature(LUA)\n  balance source\n  .endif",
    ],
)
def test_none(own: str) -> None:
    """Nothing to say, what only a backend may say, and what might mean something else behind the same of the defaults section."""
    assert provided(f"{HEAD}backend b from base\n  {own}\n") == []


def test_the_most_frequent_ones_and_those_that_were_there() -> None:
    text = HEAD + "".join(f"backend b{number} from base\n  fullconn {number % 3 + 1}\n" for number in range(5))
    all_of_them = provided(text)
    assert [lines(each)[-1] for each in all_of_them] == ["fullconn 1", "fullconn 2", "fullconn 3"]
    assert provided(text, 2) == all_of_them[:2]
    there = "".join(all_of_them)
    assert provided(HEAD, 10, there) == all_of_them, "kept for the next one"
    assert provided(text + "backend n from base\n  fullconn 9\n", 4, there)[:3] == all_of_them
    name = all_of_them[0].split()[1]
    assert provided(text, 10, there, frozenset({name})) == all_of_them[1:]


def test_a_loaded_shape_takes_the_place_of_a_reload() -> None:
    own = "  balance leastconn\n  mode tcp\n  guid b:1\n"
    new = HEAD + f"backend b from base\n{own}  server s 192.0.2.1:80\n"
    shapes = "".join(provided(new))
    before, after = with_file(HEAD, shapes), with_file(new, shapes)
    found = plan(before, after, MODERN)
    assert not found.reasons
    name = shapes.split()[1]
    assert [each.text for each in found.commands][:2] == [f"add backend b from {name} guid b:1", "add server b/s 192.0.2.1:80"]
    changed = shapes.replace("balance leastconn", "balance first")
    assert plan(with_file(HEAD, changed), with_file(new, changed), MODERN).reasons, "its name alone does not count"
    assert plan(with_file(HEAD), after, MODERN).reasons[0].keyword == "balance"


def test_shapes_alone_take_a_reload() -> None:
    shapes = "".join(provided(HEAD + "backend b from base\n  fullconn 3\n"))
    (reason,) = plan(with_file(HEAD), with_file(HEAD, shapes), MODERN).reasons
    assert reason.why == "the file of shapes changed"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_they_bind_no_section(path: Path) -> None:
    """What each section inherits from is as before, and new sections come into other files."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    if "\0" in text:
        return
    plain = Document.parse(text)
    document = Shapes(MODERN.backend_keywords).provided(with_file(text), 5)
    others, taken = parted(document)
    assert others.text == plain.text
    assert all_implicit(document)[: len(others.sections)] == all_implicit(plain)
    editor = Editor()
    for kind, name in (("defaults", "new-one"), ("backends", "new-two"), ("userlists", "new-three")):
        edited = editor.create(document, resources()[kind], None, {"name": name})
        assert parted(edited)[1] == taken


@pytest.mark.parametrize("path", [each for each in CORPUS if each.parent.name == "valid"], ids=lambda path: path.stem)
def test_haproxy_takes_a_file_with_its_shapes_as_without(tmp_path: Path, path: Path) -> None:
    """Where it does not, it says so of a shape (tests/acceptance/test_shapes.py)."""
    text = path.read_text()
    shapes = "".join(provided(text, 100))
    if not shapes:
        return
    assert binding_warnings(tmp_path, text + "\n" + shapes) == binding_warnings(tmp_path, text)


def binding_warnings(directory: Path, text: str) -> list[str]:
    """What HAProxy says of sections that are inherited both by name and by place."""
    file = directory / "checked.cfg"
    file.write_text(text)
    ran = subprocess.run([binaries.exactly("3.4"), "-c", "-f", file], capture_output=True, text=True, check=False)
    return sorted({line.partition("] : ")[2] for line in ran.stderr.splitlines() if "explicitly referenced" in line})


LIKE_A_FRESH_ONE = [
    "balance random(3)",
    "cookie S insert indirect nocache",
    "option httpchk GET /health\n  http-check expect status 200-399",
    "option redispatch 2\n  option forwardfor header X-F if-none",
    "timeout server 9s\n  timeout queue 3s\n  fullconn 10",
    "acl api path_beg /api\n  http-request deny if !api",
    "http-request set-header x %[be_name]\n  http-response del-header y",
    "compression algo gzip\n  compression type text/html",
    "errorfile 503 /dev/null",
    "hash-type consistent\n  balance uri",
    "mode tcp\n  option tcp-check\n  tcp-check connect",
    "log 127.0.0.1:9 local0\n  option httpclose",
    "stats enable\n  stats uri /s",
]


def test_live_is_what_a_fresh_process_makes_of_the_same_files(tmp_path: Path) -> None:
    backends = [f"backend b{n} from base\n  {own}\n  server s 127.0.0.1:9 cookie s\n\n" for n, own in enumerate(LIKE_A_FRESH_ONE)]
    whole = HEAD.replace("  option httplog\n", "") + "backend first from base\n  server s 127.0.0.1:9\n\n"
    shapes = "".join(provided(whole + "".join(backends), 100))
    assert shapes.count("defaults shape-") == len(backends)
    running, new = with_file(whole, shapes), with_file(whole + "".join(backends), shapes)
    found = plan(running, new, MODERN)
    assert not found.reasons
    with HAProxy(tmp_path, whole + shapes, binary=binaries.exactly("3.4")) as haproxy:
        for command in found.commands:
            haproxy.ask(command.text)
        with fresh(tmp_path / "fresh", haproxy.binary, whole + "".join(backends) + shapes) as send:
            shown = [{name: value for name, value in effective(ask).items() if not name.endswith(" slim")} for ask in (haproxy.ask, send)]
    assert differences(*shown) == []
    assert len(shown[0]) > 30 * len(backends)
