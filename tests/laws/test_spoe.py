"""HAProxy accepts every line of a SPOE file that the declarations can write. tests/laws/test_referee.py checks the configuration."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource
from tests.haproxy import binaries
from tests.laws.language import directives
from tests.samples import line_samples

# The lines that each kind of section needs. `...` stands for the sample.
AROUND = {
    "spoe-agent": ["..."],
    "spoe-message": ["  messages m", "spoe-message m", "  acl sample src 192.0.2.1", "..."],
}
BEFORE = ["spoe-agent a", "  use-backend spoa", "  timeout processing 1s"]
# The messages and groups that samples name.
BEHIND = ["spoe-group one", "spoe-group two", "spoe-message check", "  args src"]
CONFIGURATION = """\
log-profile access
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
ring sample
  size 16384
backend spoa
  mode {mode}
  server one 127.0.0.1:1
frontend shared
  bind 127.0.0.1:1
"""


def samples() -> Iterator[tuple[Resource, str]]:
    """Yield every kind of line in a section of a SPOE file, once."""
    for _, number, section, resource in directives():
        directive = section.directives[number]
        for values in line_samples(directive.shape) if resource.file == "spoe" else ():
            if directive.rows or directive.needs_line(values):
                yield resource, directive.shape.new(values).text.strip()


def asked(binary: str, directory: Path, cases: list[tuple[Resource, str]]) -> subprocess.CompletedProcess[Any]:
    """Let HAProxy check all cases in one file, each in a scope that a separate filter reads."""
    text, lines = CONFIGURATION.format(mode="spop"), []
    if binaries.version(binary) < (3, 1):
        text, lines = CONFIGURATION.format(mode="tcp").replace("log-profile access\n", ""), []
    for number, (resource, line) in enumerate(cases):
        text += f"  filter spoe engine case{number} config spoe.cfg\n"
        lines += [f"[case{number}]", *BEFORE, *("  " + line if each == "..." else each for each in AROUND[resource.section]), *BEHIND]
    (directory / "case.cfg").write_text(text)
    (directory / "spoe.cfg").write_text("\n".join(lines) + "\n")
    return subprocess.run([binary, "-c", "-f", "case.cfg"], cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", ["2.6", "3.2"])
def test_haproxy_takes_what_is_written(version: str, tmp_path: Path) -> None:
    cases = [each for each in samples() if not (version == "2.6" and " profile " in each[1])]
    assert len(cases) > 60
    ran = asked(binaries.exactly(version), tmp_path, cases)
    assert ran.returncode == 0, ran.stderr
