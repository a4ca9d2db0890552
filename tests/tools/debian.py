"""Unpack Debian packages of any suite, with their libraries, into a directory, without root and without the apt settings of the machine.

Uses only the standard library, because it runs before anything is installed.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ARCHIVE = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The suites whose packages need packages of another suite.
LEANS_ON = {"experimental": "sid"}
# Libraries that only the installation scripts of packages need.
NOT_LOADED = re.compile(r"lib(perl|gdbm|pam|sem|sepol|selinux|audit|db5|debconf|attr|acl|bsd|md0|bz2|file|text|number|c-)")

APT_CONF = """\
Dir::Etc::parts "{dir}/none";
Dir::Etc::main "{dir}/none";
Dir::Etc::preferencesparts "{dir}/none";
Dir::Etc::sourceparts "{dir}/none";
Dir::Etc::sourcelist "{dir}/sources.list";
Dir::State "{dir}";
Dir::State::status "{dir}/status";
Dir::Cache "{dir}/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Retries "2";
Acquire::http::Timeout "30";
{machine}
Acquire::Languages {{ "none"; }};
Acquire::Check-Valid-Until "false";
"""


class NotToBeHad(Exception):
    """A program cannot be fetched. The message says why."""


def unpack(package: str, suite: str, new: Path, *beside: str) -> None:
    """Unpack a package, the packages `beside`, and the libraries that they need into `new`. Raises NotToBeHad."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise NotToBeHad("no apt-get and dpkg-deb on this machine")
    with tempfile.TemporaryDirectory(dir=new.parent) as directory:
        apt = private_apt(Path(directory), suite)
        run(apt, "apt-get", "-q", "update")
        plan = run(apt, "apt-get", "-s", "install", "-t", suite, package, *beside)
        names = [name for name in re.findall(r"^Inst (\S+)", plan, re.MULTILINE) if name in (package, *beside) or is_library(name)]
        run(apt, "apt-get", "-q", "download", "-t", suite, *names)
        for archive in Path(directory).glob("*.deb"):
            run(apt, "dpkg-deb", "-x", str(archive), str(new))


def is_library(name: str) -> bool:
    return re.match(r"lib|zlib", name) is not None and not NOT_LOADED.match(name)


def private_apt(directory: Path, suite: str) -> Path:
    """Create an apt configuration in a directory, and return the directory. Only the URL and proxy of the archive are the machine's."""
    for part in ("lists/partial", "cache/archives/partial", "none"):
        (directory / part).mkdir(parents=True)
    (directory / "status").touch()
    signed = f" [signed-by={KEYRING}]" if Path(KEYRING).exists() else ""
    suites = [suite, *filter(None, [LEANS_ON.get(suite)])]
    (directory / "sources.list").write_text("".join(f"deb{signed} {machine_archive()} {each} main\n" for each in suites))
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    machine = "\n".join(re.findall(r"^Acquire::https?::.*$", dump, re.MULTILINE))
    (directory / "apt.conf").write_text(APT_CONF.format(dir=directory, machine=machine))
    return directory


def machine_archive() -> str:
    """Return the URL of the Debian archive that this machine uses."""
    for path in (*Path("/etc/apt/sources.list.d").glob("*.sources"), Path("/etc/apt/sources.list")):
        text = path.read_text() if path.exists() else ""
        if found := re.search(r"^(?:URIs: *|deb (?:\[.*\] *)?)(\S*/debian)/?(?: |$)", text, re.MULTILINE):
            return found[1]
    return ARCHIVE


def run(apt: Path, *command: str) -> str:
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf"), "LC_ALL": "C"}
    done = subprocess.run(command, cwd=apt, env=environment, check=False, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise NotToBeHad(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout
