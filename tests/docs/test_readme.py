"""Compare the tour in the README with the real output of its commands, and check that the files it names exist."""

import re
import subprocess

from tests.docs.tour import README, comparable, run, steps
from tests.rules.sources import CHECKOUT


def test_the_tour_prints_what_the_readme_shows() -> None:
    shown = steps(README.read_text())
    assert len(shown) > 10
    printed = run([step.command for step in shown])
    assert [(step.command, comparable(output)) for step, output in zip(shown, printed, strict=True)] == [
        (step.command, comparable(step.output)) for step in shown
    ]


def test_what_it_links_to_is_there() -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", README.read_text())
    assert targets
    assert [target for target in targets if not (CHECKOUT / target).exists()] == []


def test_its_commands_are_the_makefile_s() -> None:
    named = set(re.findall(r"`make ([a-z0-9]+)`", README.read_text()))
    offered = set(re.findall(r"^([a-z0-9]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= named <= offered
    listed = subprocess.run(["make", "--no-print-directory", "help"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in listed.splitlines()} == offered
