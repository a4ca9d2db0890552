"""Build the same release from the same commit on any machine."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.rules.sources import CHECKOUT

CONTENT = {"README.md": b"a collection\n", "roles/one/tasks/main.yml": b"[]\n", "roles/one/defaults/main.yml": b"{}\n"}
NUMBERS = {"SOURCE_DATE_EPOCH": "1700000000"}


def build(path: Path, names: Sequence[str], time: int) -> None:
    """Write a collection as ansible-galaxy does: in any order, with the times of the checkout."""
    listed = json.dumps({"files": [{"name": name} for name in names], "format": 1}).encode()
    manifest = {"file_manifest_file": {"name": "FILES.json", "chksum_sha256": hashlib.sha256(listed).hexdigest()}}
    with tarfile.open(path, "w:gz") as archive:
        for name, content in {
            "MANIFEST.json": json.dumps(manifest).encode(),
            "FILES.json": listed,
            **{n: CONTENT[n] for n in names},
        }.items():
            about = tarfile.TarInfo(name)
            about.mtime, about.size = time, len(content)
            archive.addfile(about, io.BytesIO(content))


def test_a_collection_does_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    written = []
    for number, names in enumerate([sorted(CONTENT), sorted(CONTENT, reverse=True)]):
        build(tmp_path / f"built{number}", names, 1_600_000_000 + number)
        words = [sys.executable, "packaging/reproducible_collection.py", str(tmp_path / f"built{number}"), str(tmp_path / f"new{number}")]
        subprocess.run(words, cwd=CHECKOUT, check=True, env={**os.environ, **NUMBERS})
        written.append((tmp_path / f"new{number}").read_bytes())
    assert written[0] == written[1]
    with tarfile.open(tmp_path / "new0") as archive:
        files = {each.name: found.read() for each in archive if (found := archive.extractfile(each))}
    assert {name: content for name, content in files.items() if name in CONTENT} == CONTENT
    assert json.loads(files["MANIFEST.json"])["file_manifest_file"]["chksum_sha256"] == hashlib.sha256(files["FILES.json"]).hexdigest()


@pytest.mark.soak
def test_two_clones_make_the_same_release(tmp_path: Path) -> None:
    sums = []
    for name, umask, zone in (("one", "022", "UTC"), ("another", "077", "Asia/Tokyo")):
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(tmp_path / name)], check=True)
        command = f"umask {umask} && make --no-print-directory release"
        subprocess.run(["sh", "-c", command], cwd=tmp_path / name, check=True, env={**os.environ, "TZ": zone}, stdout=subprocess.DEVNULL)
        sums.append((tmp_path / name / "dist/SHA256SUMS").read_text())
    assert sums[0] == sums[1]
    assert len(sums[0].splitlines()) == 5
