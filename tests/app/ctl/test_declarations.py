"""What is declared, from files and directories."""

import json
from pathlib import Path

import pytest

from dataplaneapi.ctl import declarations
from dataplaneapi.ctl.client import JSON, TEXT, YAML
from dataplaneapi.ctl.failures import Failure


def files(tmp_path: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return [str(tmp_path)]


def test_one_file_goes_as_it_is(tmp_path: Path) -> None:
    text = "# ours\nbackends: [{name: a}]\n"
    assert declarations.read(files(tmp_path, a__yaml=text)) == (text.encode(), YAML)
    assert declarations.read([str(tmp_path / "a.yaml")]) == (text.encode(), YAML)


def test_lists_of_several_files_are_one(tmp_path: Path) -> None:
    body, kind = declarations.read(
        files(tmp_path, a__yaml="backends: [{name: a}]\nglobal: {x: 1}", b__json='{"backends": [{"name": "b"}]}', notes__md="# no")
    )
    assert (json.loads(body), kind) == ({"backends": [{"name": "a"}, {"name": "b"}], "global": {"x": 1}}, JSON)


def test_parts_of_a_configuration_are_one(tmp_path: Path) -> None:
    assert declarations.read(files(tmp_path, a__cfg="backend a", b__cfg="backend b\n")) == (b"backend a\n\nbackend b\n", TEXT)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a__yaml": "x: []", "b__cfg": "backend a"}, "cannot be declared in one call"),
        ({"a__yaml": "global: {}", "b__yaml": "global: {}"}, "b.yaml: global is in .*a.yaml, too"),
        ({"a__yaml": "x: []", "b__yaml": "- a"}, "b.yaml: objects by their collections"),
        ({"a__yaml": "x: {}", "b__yaml": "x: []"}, "x is a list, and none in"),
        ({"a__map": "a b"}, "stored files cannot be applied"),
        ({"a__txt": "x"}, "has no .yaml, .json or .cfg file"),
    ],
)
def test_what_cannot_be_one(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    with pytest.raises(Failure, match=message):
        declarations.read(files(tmp_path, **texts))


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
    assert declarations.guessed(data) == kind
