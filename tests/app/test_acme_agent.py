"""Find the files of a crt-store."""

from pathlib import Path

import pytest

from dataplaneapi.acme_agent import base
from tests.app.client import Client, settings

CONFIG = """\
global
  crt-base /global
crt-store own
  crt-base /own
crt-store other
"""


@pytest.mark.parametrize(
    ("certificate", "directory"),
    [("@own/site.pem", "/own"), ("@other/site.pem", "/global"), ("@absent/x", "/global"), ("/etc/site.pem", None), ("site.pem", None)],
)
def test_directory_of_a_store(tmp_path: Path, certificate: str, directory: str | None) -> None:
    with Client(settings(tmp_path), CONFIG) as client:
        found = base(client.engine, client.app.services.editor, certificate)
    assert found == (Path(directory) if directory else None)


def test_without_any(tmp_path: Path) -> None:
    with Client(settings(tmp_path), "crt-store own\n") as client:
        assert base(client.engine, client.app.services.editor, "@own/site.pem") is None
