"""Names beyond the seeded files."""

import subprocess
from pathlib import Path

import pytest

from tests.haproxy import binaries
from tests.native.features.lint.test_lint import found


def test_the_nearest_name_is_offered() -> None:
    (one,) = found('frontend f\n  use_backend "shopp" if { path /shopp }\nbackend shop\n', "name-undefined")
    assert one.new_line == 'use_backend "shop" if { path /shopp }'
    assert one.others == ("backend/shop",)


def test_names_that_cannot_be_known_make_no_backend_unused() -> None:
    backend = "backend b\n"
    assert found(backend, "backend-unused")
    for line in ("use_backend %[path]", 'use_backend "${X}"', "use_backend %[path,map(/x/unread.map)]", "filter spoe engine e config /x"):
        assert found(f"frontend f\n  {line}\n{backend}", "backend-unused") == []
    assert found("global\n  lua-load /x.lua\nbackend b\n", "backend-unused") == []


STARTED = """\
global
  stats socket {directory}/s.sock
{global_}
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend f
  bind {directory}/f.sock
{frontend}
backend b
{sections}
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("global_", "  log ring@gone local0"),
        ("frontend", "  log ring@gone local0"),
        ("frontend", "  log backend@gone local0"),
        ("frontend", "  log backend@b local0"),
        ("frontend", "  log stderr profile gone local0"),
        ("sections", "log-forward lf\n  bind {directory}/lf.sock\n  log ring@gone local0"),
        ("sections", "traces\n  trace h1 sink gone"),
    ],
)
def test_what_fails_at_the_start_alone_is_found(place: str, line: str, tmp_path: Path) -> None:
    """`haproxy -c` accepts the name, and the process ends over it."""
    places = dict.fromkeys(("global_", "frontend", "sections"), "") | {place: line.format(directory=tmp_path)}
    text = STARTED.format(directory=tmp_path, **places)
    binary, file = binaries.of((3, 2)), tmp_path / "haproxy.cfg"
    file.write_text(text)
    check, start = (subprocess.run([binary, option, "-f", file], check=False, capture_output=True, text=True) for option in ("-c", "-W"))
    assert (check.returncode, start.returncode) == (0, 1), check.stderr + start.stderr
    assert [each.line for each in found(text, "name-undefined")] == [text[: text.index(line.splitlines()[-1].strip())].count("\n") + 1]
