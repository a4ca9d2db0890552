"""Writes an Ansible collection again so that the same files give the same bytes: in order of their names, with one time.

    python packaging/reproducible_collection.py BUILT WRITTEN

`ansible-galaxy collection build` lists files in the order of the file system, and archives them with the times of the checkout.
The time is SOURCE_DATE_EPOCH.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from typing import Any

MANIFEST, FILES = "MANIFEST.json", "FILES.json"


def contents(path: str) -> dict[str, bytes | None]:
    """Return the files of an archive by name; None for a directory."""
    with tarfile.open(path) as archive:
        return {each.name: file.read() if (file := archive.extractfile(each)) else None for each in archive}


def in_order(files: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """Return the files in order, and so those that FILES.json lists; the manifest has the hash of that list."""
    listed: dict[str, Any] = json.loads(files[FILES] or b"")
    manifest: dict[str, Any] = json.loads(files[MANIFEST] or b"")
    listed["files"].sort(key=lambda row: row["name"])
    files[FILES] = json.dumps(listed, indent=1).encode()
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(files[FILES] or b"").hexdigest()
    files[MANIFEST] = json.dumps(manifest, indent=1).encode()
    return {name: files[name] for name in (MANIFEST, FILES, *sorted(files.keys() - {MANIFEST, FILES}))}


def write(files: dict[str, bytes | None], path: str, time: int) -> None:
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=time, fileobj=raw) as data, tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.mtime, about.mode, about.size = time, 0o644, len(content or b"")
            if content is None:
                about.type, about.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(about, io.BytesIO(content or b""))


if __name__ == "__main__":
    write(in_order(contents(sys.argv[1])), sys.argv[2], int(os.environ["SOURCE_DATE_EPOCH"]))
