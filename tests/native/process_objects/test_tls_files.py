"""What a certificate in the process was made of; with HAProxy in tests/app/handlers/sidecar/test_process_reverts.py."""

from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA1

from haproxy_native.process_objects.tls_files import TlsFiles
from haproxy_native.runtime.ssl_files import CERTIFICATES
from tests.native.engines import run, running_engine
from tests.tls.pems import made


def test_where_a_content_is_looked_for(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("")
        one, other = made("one.example"), made("one.example")
        async with running_engine(tmp_path) as engine:
            kind = TlsFiles(engine.context, CERTIFICATES)

            def found(*former: str, given: str = "") -> bytes | None:
                shown = {"sha1_finger_print": one.certificate.fingerprint(SHA1()).hex().upper()}
                return kind._content("a.pem", shown, given.encode() or None, [each.encode() for each in former])

            assert found() is None and found(other.pem) is None
            assert found(one.cert) is None, "without its key"
            assert found(other.pem, one.pem) == found(given=one.pem) == one.pem.encode()
            (tmp_path / "a.pem").write_text(one.cert)
            assert found() is None
            (tmp_path / "a.pem.key").write_text(one.private)
            assert found() == f"{one.cert}\n{one.private}".encode()

    run(work())
