"""The stub names what there is, and a type checker uses it."""

import re
from pathlib import Path

import haproxy_native
from haproxy_native.objects.sections import Sections
from tests.native.objects.types import types
from tests.rules.sources import CHECKOUT

HEAD = """\
import haproxy_native
app = haproxy_native.parse("").backends["app"]
servers, server = app.servers, app.servers["one"]
"""
MISTAKES = {
    "server.wieght = 1": '"Server" has no attribute "wieght"',
    'server.weight = "1"': 'Incompatible types in assignment (expression has type "str", variable has type "int | None")',
    'servers.add(name="two", address="a", wieght=1)': 'Unexpected keyword argument "wieght" for "Server"; did you mean "weight"?',
    'servers.add(name="two")': 'Missing named argument "address" for "Server"',
    'app.http_request_rules.add(type="den")': 'Argument "type" to "HttpRequestRule" has incompatible type "Literal[\'den\']"',
    "app.servers = {}": 'Property "servers" defined in "Backend" is read-only',
    'haproxy_native.parse("").bakends': '"Configuration" has no attribute "bakends"',
    'haproxy_native.parze("")': 'Module has no attribute "parze"',
}


def test_a_type_checker_reports_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(HEAD + "\n".join(MISTAKES) + "\n")
    found = types(file)
    assert f"{file}:4:" in found and f"{file}:3:" not in found
    for number, report in enumerate(MISTAKES.values(), 4):
        assert f"{file}:{number}: error: {report}" in found


def test_every_section_of_the_stub_is_there() -> None:
    stub = CHECKOUT / "native" / "haproxy_native" / "objects" / "sections.pyi"
    own = haproxy_native.parse("")
    assert isinstance(own, Sections)
    for name in re.findall(r"def (\w+)", stub.read_text().partition("class Sections:\n")[2]):
        assert getattr(own, name) is not None
