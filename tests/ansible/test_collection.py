"""Check the collection with ansible-lint and its argument specification. tests/e2e runs its role."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dataplaneapi.version import VERSION
from tests.rules.sources import CHECKOUT

ANSIBLE = CHECKOUT / "ansible"
ROLE = ANSIBLE / "roles/dataplaneapi"
ROLES = [ROLE, ANSIBLE / "roles/dataplaneapi_fleet"]
each_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
# Units that name a receiver of the operator's; the package has them among its documentation.
EXAMPLES = {"dataplaneapi-events.service"}


def loaded(path: Path) -> dict[str, object]:
    return dict(yaml.safe_load(path.read_text()))


@pytest.mark.e2e
def test_lint_finds_nothing(tmp_path: Path) -> None:
    words = [str(Path(sys.executable).with_name("ansible-lint")), "--offline", "--nocolor", "--profile", "production"]
    done = subprocess.run(words, cwd=ANSIBLE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 0 failure(s), 0 warning(s)" in done.stderr


@each_role
def test_every_default_is_what_the_arguments_say(role: Path) -> None:
    options = loaded(role / "meta/argument_specs.yml")["argument_specs"]["main"]["options"]  # type: ignore[index]
    assert loaded(role / "defaults/main.yml") == {name: option["default"] for name, option in options.items()}


@each_role
def test_every_argument_is_used(role: Path) -> None:
    texts = "".join(path.read_text() for part in ("tasks", "vars", "templates", "handlers") for path in role.glob(f"{part}/*"))
    # A whole word: dataplaneapi_fleet is also the beginning of other names.
    assert [name for name in loaded(role / "defaults/main.yml") if not re.search(rf"\b{name}\b", texts)] == []


def test_play_names_are_roles_and_variables() -> None:
    """The first play in the README of the fleet's role."""
    text = re.findall(r"```yaml\n(.*?)```", (ROLES[1] / "README.md").read_text(), re.DOTALL)[0]
    (play,) = yaml.safe_load(text)
    (role,) = play["roles"]
    names = {name for each in ROLES for name in loaded(each / "defaults/main.yml")}
    assert role.pop("role").rpartition(".")[2] == ROLES[1].name
    assert set(role) <= names


def test_it_is_of_this_version() -> None:
    assert f"v{loaded(ANSIBLE / 'galaxy.yml')['version']}" == VERSION


def test_units_are_the_ones_of_systemd() -> None:
    links = list((ROLE / "files/systemd").iterdir())
    for link in links:
        assert link.is_symlink()
        assert link.resolve() == CHECKOUT / "systemd" / link.name
    units = [*(CHECKOUT / "systemd").glob("*.service"), *(CHECKOUT / "systemd").glob("*.socket")]
    assert {unit.name for unit in units} - EXAMPLES <= {link.name for link in links}
