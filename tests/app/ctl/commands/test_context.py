"""`ctl context`."""

from pathlib import Path

import pytest

from tests.app.ctl.calls import Ctl

FILE = """\
# ours
current: edge
contexts:
  edge:
    url: http://edge:1
    user: ann
    password: secret
  here:
    socket: /run/api.sock
"""
LISTED = """\
CURRENT  NAME  SERVER         USER
*        edge  http://edge:1  ann
-        here  /run/api.sock  -
"""


@pytest.fixture
def ours(tmp_path: Path) -> Ctl:
    made = Ctl(1, tmp_path)
    made.environment = {name: value for name, value in made.environment.items() if not name.startswith("DATAPLANECTL_")}
    file = tmp_path / "config/dataplaneapi/ctl.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(FILE)
    file.chmod(0o600)
    return made


def test_without_a_file_it_says_where_one_would_be(ctl: Ctl, tmp_path: Path) -> None:
    place = str(tmp_path / "none.yaml")
    assert ctl.output("context", DATAPLANECTL_CONFIG=place) == f"no contexts in {place}\n"


def test_contexts_are_listed_and_shown_without_secrets(ours: Ctl) -> None:
    assert ours.output("context") == LISTED
    assert ours.output("context", "show") == "name      edge\nurl       http://edge:1\nuser      ann\npassword  (set)\n"
    assert "secret" not in ours.output("context", "list", "-o", "json")


def test_another_one_is_used_and_all_else_stays(ours: Ctl) -> None:
    file = ours.home / "config/dataplaneapi/ctl.yaml"
    ours.output("context", "use", "here")
    assert file.read_text() == FILE.replace("current: edge", "current: here")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "there are edge, here" in ours.refusal(2, "context", "use", "nope")
    assert "name    here" in ours.output("context", "show")
