"""Check the collection with ansible-lint and its argument specification. tests/e2e runs its role."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dataplaneapi.version import VERSION
from tests.rules.sources import CHECKOUT

ANSIBLE = CHECKOUT / "ansible"
ROLE = ANSIBLE / "roles/dataplaneapi"
# Units that name a receiver of the operator. The package has them as documentation.
EXAMPLES = {"dataplaneapi-events.service"}


def loaded(path: Path) -> dict[str, object]:
    return dict(yaml.safe_load(path.read_text()))


@pytest.mark.e2e
def test_lint_finds_nothing(tmp_path: Path) -> None:
    words = [str(Path(sys.executable).with_name("ansible-lint")), "--offline", "--nocolor", "--profile", "production"]
    done = subprocess.run(words, cwd=ANSIBLE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 0 failure(s), 0 warning(s)" in done.stderr


def test_every_default_is_what_the_arguments_say() -> None:
    options = loaded(ROLE / "meta/argument_specs.yml")["argument_specs"]["main"]["options"]  # type: ignore[index]
    assert loaded(ROLE / "defaults/main.yml") == {name: option["default"] for name, option in options.items()}


def test_every_argument_is_used() -> None:
    texts = "".join(path.read_text() for part in ("tasks", "vars", "templates", "handlers") for path in (ROLE / part).iterdir())
    assert [name for name in loaded(ROLE / "defaults/main.yml") if name not in texts] == []


def test_it_is_of_this_version() -> None:
    assert f"v{loaded(ANSIBLE / 'galaxy.yml')['version']}" == VERSION


def test_units_are_the_ones_of_systemd() -> None:
    links = list((ROLE / "files/systemd").iterdir())
    for link in links:
        assert link.is_symlink()
        assert link.resolve() == CHECKOUT / "systemd" / link.name
    units = [*(CHECKOUT / "systemd").glob("*.service"), *(CHECKOUT / "systemd").glob("*.socket")]
    assert {unit.name for unit in units} - EXAMPLES <= {link.name for link in links}
