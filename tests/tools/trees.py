"""Cache fetched programs, each in its own directory. A directory appears once it is complete, and concurrent callers fetch it once.

The cache is $DATAPLANE_HAPROXY_CACHE; if unset, dataplane-sidecar/ in $XDG_CACHE_HOME or ~/.cache; if that is read-only, .cache/ in the
checkout. Uses only the standard library, because it runs before anything is installed.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from debian import NotToBeHad

CHECKOUT = Path(__file__).resolve().parents[2]


def tree(name: str, make: Callable[[Path, Path], None]) -> Path:
    """Return a directory of the cache. If it is missing, `make(new, root)` fills `new`, which is then renamed to `root`.

    Raises NotToBeHad and OSError.
    """
    root = cache() / f"{name}-{platform.machine()}"
    with locked(root.with_suffix(".lock")):
        if not root.exists():
            fill(root, make)
    return root


def cache() -> Path:
    """Return the first of the cache directories that can be written to. Raises NotToBeHad."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    asked = os.environ.get("DATAPLANE_HAPROXY_CACHE")
    for directory in [Path(asked)] if asked else [Path(home, "dataplane-sidecar"), CHECKOUT / ".cache"]:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    raise NotToBeHad("no cache directory can be written to; name one in DATAPLANE_HAPROXY_CACHE")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fill(root: Path, make: Callable[[Path, Path], None]) -> None:
    """Make the tree in a temporary directory, and rename it to `root` once it is complete."""
    with tempfile.TemporaryDirectory(dir=root.parent, prefix="new-") as directory:
        new = Path(directory, "tree")
        new.mkdir()
        print(f"{Path(sys.argv[0]).name}: fetching {root.name} into {root.parent}", file=sys.stderr)
        make(new, root)
        shutil.rmtree(root, ignore_errors=True)
        new.rename(root)


def write_wrapper(new: Path, root: Path, program: str, *, reexecutes: bool = False) -> None:
    """Write a script with the name of the program that runs the program with the loader of the tree.

    A program that `reexecutes` itself, as HAProxy's master does for a reload, must have the script as its argv[0]. Old loaders cannot do
    this.
    """
    loaders = sorted(path.relative_to(new) for path in new.glob("**/ld-linux-*.so.*"))
    if not loaders or not (new / program).exists():
        raise NotToBeHad(f"the packages hold no loader or no {program}")
    libraries = ":".join(sorted({str(root / path.parent.relative_to(new)) for path in new.glob("**/*-linux-gnu*/lib*.so.*")}))
    wrapper = new / Path(program).name
    name = '--argv0 "$0" ' if reexecutes else ""
    wrapper.write_text(f'#!/bin/sh\nexec "{root}/{loaders[0]}" {name}--library-path "{libraries}" "{root}/{program}" "$@"\n')
    wrapper.chmod(0o755)


# The libraries of glibc, which must be those of the machine's loader.
OF_LOADER = ("ld-linux*", "libc.so*", "libm.so*", "libpthread.so*", "libdl.so*", "librt.so*", "libresolv.so*", "libnss_*", "libmvec.so*")
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{root}/usr/share/fonts</dir><cachedir>{root}/fonts-cache</cachedir>
<match><test name="family"><string>monospace</string></test>
<edit name="family" mode="append_last"><string>Liberation Mono</string></edit></match>
<match><edit name="family" mode="append_last"><string>Liberation Sans</string></edit></match>
</fontconfig>
"""


def write_environment(new: Path, root: Path, program: str) -> None:
    """Write a script with the name of the program that runs it with the machine's loader, and the libraries and fonts of the tree."""
    if not (new / program).exists():
        raise NotToBeHad(f"the packages hold no {program}")
    for pattern in OF_LOADER:
        for path in new.glob(f"**/*-linux-gnu/{pattern}"):
            path.unlink()
    libraries = ":".join(sorted({str(root / path.parent.relative_to(new)) for path in new.glob("**/*-linux-gnu*/**/lib*.so*")}))
    (new / "fonts.conf").write_text(FONTS.format(root=root))
    wrapper = new / Path(program).name
    wrapper.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}" FONTCONFIG_FILE="{root}/fonts.conf" exec "{root}/{program}" "$@"\n')
    wrapper.chmod(0o755)
    if (
        done := subprocess.run(
            [new / program, "--version"],
            env={"LD_LIBRARY_PATH": libraries.replace(str(root), str(new))},
            check=False,
            capture_output=True,
            text=True,
        )
    ).returncode:
        raise NotToBeHad(f"{program} does not run on this machine: {done.stderr.strip()[-300:]}")
