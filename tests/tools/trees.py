"""The cache of fetched programs: each in a tree of its own that is there when it is whole, made once however many ask for it.

It is $DATAPLANE_HAPROXY_CACHE, else dataplane-sidecar/ in $XDG_CACHE_HOME or ~/.cache, else .cache/ in the checkout.
Standard library only: it runs before anything is installed.
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
    """The directory of that name; `make(new, root)` fills `new`, which then becomes `root`. Raises NotToBeHad and OSError."""
    root = cache() / f"{name}-{platform.machine()}"
    with locked(root.with_suffix(".lock")):
        if not root.exists():
            fill(root, make)
    return root


def cache() -> Path:
    """The first directory of the three that can be written to."""
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
    """Makes the tree beside its place and moves it there when whole."""
    with tempfile.TemporaryDirectory(dir=root.parent, prefix="new-") as directory:
        new = Path(directory, "tree")
        new.mkdir()
        print(f"{Path(sys.argv[0]).name}: fetching {root.name} into {root.parent}", file=sys.stderr)
        make(new, root)
        shutil.rmtree(root, ignore_errors=True)
        new.rename(root)


def write_wrapper(new: Path, root: Path, program: str, *, reexecutes: bool = False) -> None:
    """A script of the program's name that runs it under its own loader.

    One that `reexecutes` itself, as HAProxy's master does on a reload, has to find the wrapper in its argv[0]; old loaders cannot say that.
    """
    loaders = sorted(path.relative_to(new) for path in new.glob("**/ld-linux-*.so.*"))
    if not loaders or not (new / program).exists():
        raise NotToBeHad(f"the packages hold no loader or no {program}")
    libraries = ":".join(sorted({str(root / path.parent.relative_to(new)) for path in new.glob("**/*-linux-gnu*/lib*.so.*")}))
    wrapper = new / Path(program).name
    name = '--argv0 "$0" ' if reexecutes else ""
    wrapper.write_text(f'#!/bin/sh\nexec "{root}/{loaders[0]}" {name}--library-path "{libraries}" "{root}/{program}" "$@"\n')
    wrapper.chmod(0o755)


# Of glibc: these come with the machine's loader.
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
    """A script of the program's name that runs it under the machine's loader, with the libraries and fonts of the tree."""
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
