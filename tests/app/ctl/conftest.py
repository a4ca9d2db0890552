"""Run one server with a HAProxy for each module of tests, and the command that calls the server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl, config
from tests.haproxy.process import HAProxy


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    with HAProxy(tmp_path_factory.mktemp("haproxy"), config()) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.fixture
def ctl(sidecar: Quick, tmp_path: Path) -> Ctl:
    """Return the command. Restores the configuration of `calls.py` first, if another test has changed it."""
    if sidecar.text() != getattr(sidecar, "first_text", ""):
        pushed = sidecar.post("raw", config_of(sidecar), skip_version=True, force_reload=True)
        assert pushed.status_code < 300, pushed.text
        sidecar.first_text = sidecar.text()  # type: ignore[attr-defined]
    return Ctl(sidecar.port, tmp_path)


def config_of(sidecar: Quick) -> str:
    if not hasattr(sidecar, "config"):
        sidecar.config = sidecar.text()  # type: ignore[attr-defined]
    return str(sidecar.config)
