"""Unpacks wheels into one directory, as `pip install --target` would, but for other Pythons than the one that runs this.

Wheels of one version for several Pythons share the directory: the names of compiled modules tell their Python, all else has to be the same.

python packaging/unpack.py WHEELS DIRECTORY
"""

import re
import sys
import zipfile
from pathlib import Path

# Scripts and shared data have their place elsewhere; RECORD lists what pip would remove.
LEFT_OUT = re.compile(r"[^/]+\.data/|[^/]+\.dist-info/RECORD$")
# It tells how its wheel was made, and differs between wheels of one version.
ABOUT = re.compile(r"[^/]+\.dist-info/")


def main(wheels: Path, target: Path) -> None:
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            wanted = [name for name in archive.namelist() if not LEFT_OUT.match(name) and not name.endswith("/")]
            archive.extractall(target, [name for name in wanted if not is_there(archive, name, target)])


def is_there(archive: zipfile.ZipFile, name: str, target: Path) -> bool:
    """Whether another wheel has brought it. Raises SystemExit where that one's is different."""
    file = target / name
    if not file.exists():
        return False
    if not ABOUT.match(name) and file.read_bytes() != archive.read(name):
        sys.exit(f"{archive.filename}: {name} is different in another wheel, so one directory cannot serve both")
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
