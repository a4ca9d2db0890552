"""Stored files under another name, and what names them."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.errors import BadValue, Exists
from haproxy_native.references import files
from haproxy_native.references.files import StoredFile
from haproxy_native.references.lookups import entries_with_value
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.list_store import MapStore
from haproxy_native.text.document import Document

SAMPLE = Path(__file__).parents[2] / "laws" / "sample.pem"
LIST = "# all\nshop.pem [alpn h2] shop.example\n{0}/shop.pem  a.example\nother.pem shop.pem\n"


def certificate(directory: Path) -> StoredFile:
    for name in ("shop.pem", "other.pem"):
        (directory / name).write_bytes(SAMPLE.read_bytes())
    (directory / "shop.pem.ocsp").write_text("x")
    store = CertificateStore("ssl_certificates", Directory(directory, "ssl_certs_dir"), directory / "state")
    return StoredFile(store, directory / "shop.pem")


def test_a_certificate_takes_along_what_belongs_to_it(tmp_path: Path) -> None:
    file, path = certificate(tmp_path), tmp_path / "site.list"
    path.write_text(LIST.format(tmp_path))
    document = Document.parse(f"frontend f\n  bind :443 ssl crt-list {path}\n")
    entries = files.crt_list_entries(file, document, str(tmp_path))
    assert [(each.line, path.read_text()[each.start : each.end]) for each in entries] == [(2, "shop.pem"), (3, "shop.pem")]
    edits = files.edits_to_move(file, "new.pem", [path])
    now = {each: each.read_bytes() if each.exists() else None for each in edits.files}
    after = edits.edit(now)
    assert {each.name for each, data in after.items() if data is None} == {"shop.pem", "shop.pem.ocsp"}
    assert after[tmp_path / "new.pem"] == SAMPLE.read_bytes() and after[tmp_path / "new.pem.ocsp"] == b"x"
    assert after[path] == LIST.format(tmp_path).replace("\nshop", "\nnew").replace("/shop", "/new").encode()


def test_names(tmp_path: Path) -> None:
    file = certificate(tmp_path)
    with pytest.raises(Exists, match=r"certificate/other\.pem already exists"):
        files.check_name(file, "other.pem")
    for name in ("", "a/b.pem", "..", "a b.pem"):
        with pytest.raises(BadValue):
            files.check_name(file, name)
    files.check_name(file, "new.pem")
    assert files.suggestion(file.store, "shp.pem") == "; the nearest is certificate/shop.pem"


def test_values_of_maps(tmp_path: Path) -> None:
    store, path = MapStore("maps", Directory(tmp_path, "maps_dir"), tmp_path / "state"), tmp_path / "a.map"
    edits = files.edits_to_rename({path: store}, lambda path, text: entries_with_value(path, text, "shop"), "shop", "new")
    text = b"# shop\nshop   shop \t\n\nb\tshop\nc shop x\nd shopping\r\n\xff shop"
    assert edits.edit({path: text}) == {path: b"# shop\nshop   new \t\n\nb\tnew\nc shop x\nd shopping\r\n\xff new"}
    assert edits.edit({path: None}) == {path: None}
