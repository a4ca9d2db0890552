"""JSON and YAML."""

import pytest

from dataplaneapi.ctl import formats
from dataplaneapi.ctl.failures import Failure

VALUE = {"name": "a", "port": 80, "on": True, "none": None, "text": "one\ntwo\n", "number": "1", "list": [{"a": 1}, "x: y"], "é": "yes"}


def test_what_is_written_is_what_is_read() -> None:
    assert formats.parse_yaml(formats.to_yaml(VALUE), "x") == VALUE
    assert formats.parse_json(formats.to_json(VALUE), "x") == VALUE


def test_yaml_for_people() -> None:
    text = formats.to_yaml(VALUE)
    assert "text: |\n  one\n  two\n" in text and "none:" in text and "é: yes" in text and text.startswith("name: a\n")


def test_mistakes_name_their_place() -> None:
    with pytest.raises(Failure, match="f.yaml: .* line 1"):
        formats.parse_yaml("a: [", "f.yaml")
    with pytest.raises(Failure, match="f.json: .* line 1"):
        formats.parse_json("{", "f.json")
