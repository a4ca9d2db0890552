"""Formats of results."""

from argparse import Namespace

import pytest

from dataplaneapi.ctl.session import Session


@pytest.mark.parametrize(("format_", "text"), [("json", '[\n  {\n    "name": "a"\n  }\n]\n'), ("yaml", "- name: a\n"), (None, "NAME\na\n")])
def test_formats(format_: str | None, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(Namespace(output=format_))
    session.show_list("thing", [{"name": "a"}])
    session.note("beside it")
    session.close()
    assert capsys.readouterr() == (text, "beside it\n")


def test_one(capsys: pytest.CaptureFixture[str]) -> None:
    Session(Namespace()).show_one({"name": "a"})
    assert capsys.readouterr().out == "name  a\n"
