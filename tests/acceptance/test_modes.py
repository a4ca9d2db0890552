"""Check the modes of all files that the server creates with umask 0: others may write no file, and read no secret."""

import stat
import subprocess
from pathlib import Path

from tests.haproxy.process import SMALL, HAProxy
from tests.haproxy.sidecar import Sidecar
from tests.until import until

STORAGE = "/v3/services/haproxy/storage"
# Files that others may read: a process id.
FOR_ALL = ("own.pid",)


class Open(Sidecar):
    """A server that is started with umask 0."""

    def _process(self, *words: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen([*self._command(), *words], stdout=log, stderr=log, start_new_session=True, umask=0)


def entries(directory: Path) -> set[Path]:
    return {*directory.rglob("*")}


def upload(name: str, content: bytes) -> dict[str, tuple[str, bytes]]:
    return {"file_upload": (name, content)}


def test_what_the_server_writes_is_not_for_others(tmp_path: Path) -> None:
    new = tmp_path / "new"
    settings = {
        "pid_file": str(tmp_path / "own.pid"),
        "scheme": ["http", "unix"],
        "socket_path": str(tmp_path / "api.sock"),
        "debug_socket_path": str(tmp_path / "debug.sock"),
        "transaction": {"transaction_dir": str(new / "transactions"), "backups_number": 2, "backups_dir": str(new / "backups")},
        "audit": {"target": "file", "file": str(new / "audit/audit.log")},
    }
    with HAProxy(tmp_path, SMALL) as haproxy:
        haproxy.file.chmod(0o640)
        before, sidecar = entries(tmp_path), Open(haproxy, dataplaneapi=settings)
        with sidecar.file.open("a") as file:
            file.write(f"log_targets: [{{log_to: file, log_file: {new}/log/own.log, log_level: debug}}]\n")
        before |= {sidecar.file, sidecar.log}
        with sidecar:
            for name in ("one", "two"):
                assert sidecar.post("backends", {"name": name}, version=sidecar.version()).status_code in (201, 202)
            kept = sidecar.transaction()
            assert sidecar.post("backends", {"name": "kept"}, transaction_id=kept).status_code == 202
            assert sidecar.client.post(f"{STORAGE}/maps", files=upload("hosts.map", b"a b\n")).status_code == 201
            page = upload("page.http", b"HTTP/1.0 200 OK\r\n\r\n")
            assert sidecar.client.post(f"{STORAGE}/general", files=page).status_code == 201
            spoe = sidecar.client.post("/v3/services/haproxy/spoe/spoe_files", files=upload("a.spoe", b"[a]\n"))
            assert spoe.status_code == 201, spoe.text
            token = sidecar.post("/v3/sidecar/tokens", {"name": "ci", "ttl": "1h"})
            assert token.status_code in (200, 201), token.text
            sidecar.client.headers["Idempotency-Key"] = "0123456789abcdef"
            assert sidecar.post("backends", {"name": "three"}, version=sidecar.version()).status_code in (201, 202)
            until((new / "log/own.log").exists)
            found = entries(tmp_path) - before
        found |= entries(tmp_path) - before
    modes = {path.relative_to(tmp_path): stat.S_IMODE(path.lstat().st_mode) for path in found if path.exists() and not path.is_symlink()}
    names = {path.name for path in modes}
    assert {"own.pid", "audit.log", "own.log", "hosts.map", "page.http", "a.spoe", "state.db", "keys.db"} <= names, names
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o022} == {}, "others may write"
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o007 and path.name not in FOR_ALL} == {}, "others may read"
