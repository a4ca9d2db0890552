"""The stub names what there is, and a type checker uses it."""

import subprocess
import sys
from pathlib import Path

from haproxy_native.objects.sections import Sections
from tests.rules.sources import CHECKOUT

CODE = """\
import haproxy_native

configuration = haproxy_native.parse("")
configuration.backends["www"].servers["web1"].weight = 10
configuration.backends["www"].servers["web1"].wieght = 10
configuration.bakends["www"]
configuration.backends["www"].servers["web1"].weight = "ten"
haproxy_native.parze("")
"""


def test_a_type_checker_sees_a_wrong_name(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(file)],
        capture_output=True, text=True, check=False, cwd=CHECKOUT,
    )  # fmt: skip
    assert [line.partition(": error: ")[0].rpartition(":")[2] for line in done.stdout.splitlines() if "error" in line] == [
        "5",
        "6",
        "7",
        "8",
    ]


def test_every_section_of_the_stub_is_there() -> None:
    stub = CHECKOUT / "native" / "haproxy_native" / "objects" / "sections.pyi"
    listed = stub.read_text().partition("class Sections:\n")[2].split("\n")
    own = __import__("haproxy_native").parse("")
    assert isinstance(own, Sections)
    for line in filter(None, listed):
        getattr(own, line.split(":")[0].strip())
