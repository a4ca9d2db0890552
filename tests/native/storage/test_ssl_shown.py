"""What HAProxy has of authorities, revocation lists, crt-lists and general files, compared with the files."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.features.drift.drift import Drift
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import CA_FILES, CRL_FILES
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import run, running_engine
from tests.tls.pems import authority, made, revoking

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin

defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s

frontend web
  bind 127.0.0.1:{port} ssl crt-list {ssl}/list.txt ca-file {ssl}/cas.pem crl-file {general}/revoked.pem verify optional
  http-request deny if {{ path -f {general}/paths }}
"""
ISSUER = authority()


def authorities(*serials: int) -> str:
    return "".join(made("authority", serial).cert for serial in serials)


@pytest.mark.parametrize("version", ["2.6", "3.4"])
def test_what_differs(tmp_path: Path, version: str) -> None:
    ssl, general = tmp_path / "ssl", tmp_path / "general"
    for directory in (ssl, general):
        directory.mkdir()
    (ssl / "site.pem").write_text(made("one.example", 17).pem)
    (ssl / "list.txt").write_text(f"# by hand\n{ssl}/site.pem [alpn h2,http/1.1] one.example *.two.example\n")
    (ssl / "cas.pem").write_text(authorities(5, 4242))
    (general / "revoked.pem").write_text(revoking(ISSUER, 127, 0x0A1B))
    (general / "paths").write_text("/x\n# no pattern\n/y\n")
    (general / "503.http").write_text("HTTP/1.0 503 no\r\n\r\n")
    config = CONFIG.format(port=free_port(), ssl=ssl, general=general)
    kinds = {"ssl_certificates": ssl, "ssl_crt_lists": ssl, "general": general}
    directories = {name: Directory(path, name) for name, path in kinds.items()}

    async def work() -> None:
        with HAProxy(tmp_path, config, binary=binaries.exactly(version)) as haproxy:
            async with running_engine(tmp_path, haproxy, directories=directories) as engine:

                async def differing() -> list[str]:
                    found = await Drift(engine, Overrides(engine, Editor())).find()
                    assert found.answers and all(each.values[0] != each.values[1] for each in found.differences)
                    return sorted(each.object for each in found.differences)

                assert await differing() == []
                await ssl_files.replace(engine.runtime, CA_FILES, f"{ssl}/cas.pem", authorities(5))
                assert await differing() == ["certificate/cas.pem"]
                await ssl_files.replace(engine.runtime, CA_FILES, f"{ssl}/cas.pem", authorities(4242, 5))
                assert await differing() == []
                await ssl_files.replace(engine.runtime, CRL_FILES, f"{general}/revoked.pem", revoking(ISSUER, 127))
                await ssl_files.add_crt_list_entry(engine.runtime, f"{ssl}/list.txt", f"{ssl}/site.pem", "", ["three.example"])
                haproxy.ask(f"add acl {general}/paths /z")
                assert await differing() == ["crt_list/list.txt", "general/paths", "general/revoked.pem"]
                (general / "revoked.pem").write_text(revoking(ISSUER, 127))
                (general / "paths").write_text("/x\n/y\n/z\n")
                assert await differing() == ["crt_list/list.txt"]

    run(work())
