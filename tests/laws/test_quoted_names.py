"""A name is the word that HAProxy reads. Unnecessary quotes are only in the file, and stay there."""

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.references.object_references import rename_object
from haproxy_native.text.document import Document
from tests.native.references.sample import found
from tests.samples import line_samples, section_samples

EDITOR = Editor()
RESOURCES = EDITOR.resources.by_name
NAMED = [name for name, resource in RESOURCES.items() if resource.kind == "named" and not resource.file]
SECTIONS = [name for name, resource in RESOURCES.items() if resource.kind == "section" and not resource.file]
SPELLINGS = ['"named"', "'named'", "na'me'd", 'na"med"', '"na"med']

PLAIN = """\
defaults base
  mode http
userlist people
  group staff users ann
  user ann insecure-password secret
peers mesh
  peer here 127.0.0.1:1024
frontend web from base
  bind 127.0.0.1:8080 name main
  acl inside src 127.0.0.1
  use_backend app if inside
  default_backend app
backend app from base
  stick-table type ip size 10k peers mesh
  server one 127.0.0.1:80
  use-server one if TRUE
"""
NAMES = [
    "base",
    "people",
    "staff",
    "ann",
    "secret",
    "mesh",
    "here",
    "web",
    "main",
    "inside",
    "app",
    "one",
    "127.0.0.1:8080",
    "127.0.0.1:80",
]


def quoted_text(style: str) -> str:
    """Return the configuration with quotes around every name."""
    lines = []
    for line in PLAIN.splitlines(keepends=True):
        head, condition, test = line.partition(" if ")
        words = [style.replace("named", word) if word in NAMES else word for word in head.rstrip("\n").split(" ")]
        lines.append(" ".join(words) + (condition + test if condition else "\n"))
    return "".join(lines)


@pytest.mark.parametrize("style", ['"named"', "'named'"])
def test_a_configuration_reads_alike_and_stays(style: str) -> None:
    plain, text = Document.parse(PLAIN), quoted_text(style)
    document = Document.parse(text)
    assert text.count(style[0]) > 40
    for name in ("defaults", "userlists", "peers", "frontends", "backends"):
        shown = EDITOR.list_objects(document, RESOURCES[name], full=True)
        assert shown == EDITOR.list_objects(plain, RESOURCES[name], full=True)
        for object_ in shown:
            assert EDITOR.replace(document, RESOURCES[name], None, object_["name"], object_, full=True).text == text
    server, above = RESOURCES["servers"], (RESOURCES["backends"], "app")
    edited = EDITOR.replace(document, server, above, "one", {**EDITOR.get_object(document, server, above, "one"), "weight": 5})
    address = style.replace("named", "127.0.0.1:80")
    assert edited.text == text.replace(f"{address}\n  use", f"{address} weight 5\n  use")
    for object_ in ("backend/app", "backend/app/server/one", "frontend/web/acl/inside"):
        there = rename_object(found(object_, text), "new")
        back = found(object_.rpartition("/")[0] + "/new", there.text)
        assert len(back.spots) == len(found(object_, PLAIN).spots)


@pytest.mark.parametrize("name", NAMED)
def test_children(name: str) -> None:
    resource, shape = RESOURCES[name], EDITOR.grammar.line(RESOURCES[name].schema)
    above = RESOURCES[resource.parents[0]]
    parent = (above, "above" if above.kind == "section" else "")
    line = shape.new({**line_samples(shape)[0], resource.key: "named"}).text
    plain = Document.parse(f"{above.section} {parent[1]}\n{line}")
    wanted = EDITOR.get_object(plain, resource, parent, "named")
    for spelling in SPELLINGS:
        document = Document.parse(plain.text.replace("named", spelling, 1))
        assert EDITOR.list_objects(document, resource, parent) == [wanted]
        for key in ("named", spelling):
            assert EDITOR.replace(document, resource, parent, key, wanted).text == document.text
            assert EDITOR.delete(document, resource, parent, key).text == EDITOR.delete(plain, resource, parent, "named").text


@pytest.mark.parametrize("name", SECTIONS)
def test_sections(name: str) -> None:
    resource = RESOURCES[name]
    shape = EDITOR.shape(resource)
    # The notations are used in turn.
    for number, sample in enumerate(section_samples(shape)):
        plain = shape.new({**{member: value for member, value in sample.items() if member != "from"}, "name": "named"}).text
        header, _, rest = plain.partition("\n")
        for spelling in SPELLINGS if number == 0 else [SPELLINGS[number % len(SPELLINGS)]]:
            document = Document.parse(f"{header.replace('named', spelling)}\n{rest}")
            shown = EDITOR.list_objects(document, resource)
            assert [object_["name"] for object_ in shown] == ["named"]
            for key in ("named", spelling):
                assert EDITOR.get_object(document, resource, None, key) == shown[0]
                assert EDITOR.replace(document, resource, None, key, shown[0]).text == document.text


def test_a_name_that_a_variable_makes_is_the_text_of_the_file() -> None:
    document = Document.parse('backend "${APP}"\n  server s "${HOST}:80"\n')
    assert EDITOR.list_objects(document, RESOURCES["backends"]) == [{"name": '"${APP}"'}]
    server = EDITOR.get_object(document, RESOURCES["servers"], (RESOURCES["backends"], '"${APP}"'), "s")
    assert server == {"name": "s", "address": '"${HOST}:80"'}
