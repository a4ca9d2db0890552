"""Unpacks wheels into one directory, as `pip install --target` would, but for another Python than the one that runs this.

python packaging/unpack.py WHEELS DIRECTORY
"""

import sys
import zipfile
from pathlib import Path


def main(wheels: Path, target: Path) -> None:
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            # Scripts and shared data have their place elsewhere.
            archive.extractall(target, [name for name in archive.namelist() if ".data/" not in name])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
