"""Find the stats sockets that a configuration opens."""

from pathlib import Path

import pytest

from haproxy_native.disk.files import ConfigFiles
from haproxy_native.open_engine import stats_sockets, stats_sockets_in
from haproxy_native.text.document import Document

TEXT = b"""global
    maxconn 100
    stats socket /run/first.sock mode 600 level admin
    stats timeout 2m
    stats socket ipv4@127.0.0.1:9999 level user

backend b
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TEXT, ["/run/first.sock", "ipv4@127.0.0.1:9999"]),
        (b"global\n stats socket /a,ipv4@127.0.0.1:9\n", ["/a", "ipv4@127.0.0.1:9"]),
        (
            b'global\n setenv RUN /r\n presetenv NAME api\n presetenv RUN /p\n stats socket "${RUN}/$NAME"\n stats socket ${RUN}/b\n',
            ["/r/api", "/r/b"],
        ),
        (b'global\n stats socket "${DPAPI_NONE}/a"\n stats socket "${DPAPI_NONE-/d}/b"\n', ["${DPAPI_NONE}/a", "/d/b"]),
        (b"global\n", []),
        (b"", []),
        (b"not a configuration", []),
    ],
)
def test_addresses(tmp_path: Path, text: bytes, found: list[str]) -> None:
    assert stats_sockets(Document.parse(text)) == found
    path = tmp_path / "haproxy.cfg"
    path.write_bytes(text)
    assert stats_sockets_in(ConfigFiles(path, tmp_path), "") == found


def test_no_file(tmp_path: Path) -> None:
    assert stats_sockets_in(ConfigFiles(tmp_path / "none", tmp_path), "") == []


def test_of_several_files(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("frontend f\n")
    (tmp_path / "10.cfg").write_bytes(TEXT)
    assert stats_sockets_in(ConfigFiles(tmp_path / "haproxy.cfg", tmp_path, [str(tmp_path / "10.cfg")]), "")[0] == "/run/first.sock"
