"""JSON and YAML."""

import pytest

from dataplaneapi.ctl import files
from dataplaneapi.ctl.failures import Failure

VALUE = {"name": "a", "port": 80, "on": True, "none": None, "text": "one\ntwo\n", "number": "1", "list": [{"a": 1}, "x: y"], "é": "yes"}


def test_what_is_written_is_what_is_read() -> None:
    assert files.parse_yaml(files.to_yaml(VALUE), "x") == VALUE
    assert files.parse_json(files.to_json(VALUE), "x") == VALUE


def test_yaml_for_people() -> None:
    text = files.to_yaml(VALUE)
    assert "text: |\n  one\n  two\n" in text and "none:" in text and "é: yes" in text and text.startswith("name: a\n")


def test_mistakes_name_their_place() -> None:
    with pytest.raises(Failure, match="f.yaml: .* line 1"):
        files.parse_yaml("a: [", "f.yaml")
    with pytest.raises(Failure, match="f.json: .* line 1"):
        files.parse_json("{", "f.json")
