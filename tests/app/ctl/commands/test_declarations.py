"""What is declared, from files and directories."""

import json
from email import message_from_bytes
from pathlib import Path

import pytest

from dataplaneapi.ctl.client import JSON, TEXT, YAML
from dataplaneapi.ctl.commands import apply
from dataplaneapi.ctl.failures import Failure


def files(tmp_path: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return [str(tmp_path)]


def test_one_file_goes_as_it_is(tmp_path: Path) -> None:
    text = "# ours\nbackends: [{name: a}]\n"
    assert apply.read_declarations(files(tmp_path, a__yaml=text)) == (text.encode(), YAML)
    assert apply.read_declarations([str(tmp_path / "a.yaml")]) == (text.encode(), YAML)


def test_lists_of_several_files_are_one(tmp_path: Path) -> None:
    body, kind = apply.read_declarations(
        files(tmp_path, a__yaml="backends: [{name: a}]\nglobal: {x: 1}", b__json='{"backends": [{"name": "b"}]}', notes__md="# no")
    )
    assert (json.loads(body), kind) == ({"backends": [{"name": "a"}, {"name": "b"}], "global": {"x": 1}}, JSON)


def test_parts_of_a_configuration_are_one(tmp_path: Path) -> None:
    assert apply.read_declarations(files(tmp_path, a__cfg="backend a", b__cfg="backend b\n")) == (b"backend a\n\nbackend b\n", TEXT)


def test_stored_files_are_parts_of_a_form(tmp_path: Path) -> None:
    named = files(tmp_path, a__yaml="backends: []", hosts__map="a b\n")
    for name, content in (("general/sorry.http", b"\xff"), ("general/more.yaml", b"x"), ("crt_lists/list", b"l"), ("more/shop.pem", b"p")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    body, kind = apply.read_declarations(named)
    assert kind.startswith("multipart/form-data; boundary=")
    parts = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body).get_payload()
    found = [(part.get_param("name", header="content-disposition"), part.get_filename(), part.get_payload(decode=True)) for part in parts]
    assert found == [
        ("configuration", "declared.yaml", b"backends: []"),
        ("maps", "hosts.map", b"a b\n"),
        ("ssl_crt_lists", "list", b"l"),
        ("general", "more.yaml", b"x"),
        ("general", "sorry.http", b"\xff"),
        ("ssl_certificates", "shop.pem", b"p"),
    ]
    assert apply.read_declarations(named) == (body, kind), "the same state is the same body"
    (tmp_path / "hosts.map").write_text("a c\n")
    assert apply.read_declarations(named) != (body, kind)


def test_a_directory_that_is_named_itself_says_nothing_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "general").mkdir()
    (tmp_path / "general" / "a.yaml").write_text("backends: []")
    for named in (tmp_path / "general", tmp_path / "general" / "a.yaml"):
        assert apply.read_declarations([str(named)]) == (b"backends: []", YAML)
    (tmp_path / "one.map").write_text("a b\n")
    assert b'name="maps"; filename="one.map"' in apply.read_declarations([str(tmp_path / "one.map")])[0]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a__yaml": "x: []", "b__cfg": "backend a"}, "cannot be declared in one call"),
        ({"a__yaml": "global: {}", "b__yaml": "global: {}"}, "b.yaml: global is in .*a.yaml, too"),
        ({"a__yaml": "x: []", "b__yaml": "- a"}, "b.yaml: expected objects by collection"),
        ({"a__yaml": "x: {}", "b__yaml": "x: []"}, "x is a list here, but not in"),
        ({"a__crt": "a b"}, "a.crt: the kind of this stored file is unknown; put it into a directory named maps or certificates"),
        ({"a__txt": "x"}, "has no .yaml, .json or .cfg file, and no stored file"),
    ],
)
def test_what_cannot_be_one(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    with pytest.raises(Failure, match=message):
        apply.read_declarations(files(tmp_path, **texts))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"a": 1}', JSON),
        (b"# x\n\nbackends:\n- name: a", YAML),
        (b"backends: []", YAML),
        (b"---\na: b", YAML),
        (b"backend a\n  mode http", TEXT),
        (b"", TEXT),
    ],
)
def test_what_has_no_name_is_guessed(data: bytes, kind: str) -> None:
    assert apply.guess_media_type(data) == kind
