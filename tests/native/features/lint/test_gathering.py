"""Facts of files on a disk."""

from pathlib import Path

from haproxy_native.features.lint.lint import gather_facts
from haproxy_native.text.document import Document

SAMPLE = Path(__file__).parents[3] / "laws" / "sample.pem"

TEXT = """\
frontend f
  bind :443 ssl crt {0}/a.pem
  bind :444 ssl crt {0}/certs crt-list {0}/list.txt
  use_backend %[path,map({0}/a.map)]
  errorfile 503 {0}/none.http
"""


def test_modes_ends_maps_and_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "certs").mkdir()
    for name in ("a.pem", "certs/b.pem"):
        (tmp_path / name).write_bytes(SAMPLE.read_bytes())
        (tmp_path / name).chmod(0o644)
    (tmp_path / "list.txt").write_text("# x\na.pem [alpn h2]\n\nnone.pem\n")
    (tmp_path / "a.map").write_bytes(b"a b\n\xff c\n")
    facts = gather_facts(Document.parse(TEXT.format(tmp_path)), str(tmp_path))
    found = {Path(path).relative_to(tmp_path).as_posix(): file for path, file in facts.files.items()}
    assert found["a.pem"].expires and found["a.pem"].holds_key and found["a.pem"].mode & 0o777 == 0o644
    assert found["certs"].files == (f"{tmp_path}/certs/b.pem",) and found["certs/b.pem"].expires == found["a.pem"].expires
    assert found["list.txt"].files == (f"{tmp_path}/a.pem", f"{tmp_path}/none.pem") and not found["none.pem"].exists
    assert found["a.map"].text == "a b\n\udcff c\n" and not found["none.http"].exists and facts.now


def test_what_cannot_be_looked_at_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    facts = gather_facts(
        Document.parse(f"frontend f\n  errorfile 503 {tmp_path}/file/below\n  errorfile 500 {tmp_path}/{'x' * 300}\n"), "/"
    )
    assert [each.exists for each in facts.files.values()] == [True, True]
