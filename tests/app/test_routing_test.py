"""Run `dataplaneapi test` as a CI system does."""

import json
import subprocess
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from dataplaneapi.features.routing_tests.command import main
from tests.app.command_line import call_main
from tests.haproxy.sidecar import COMMAND

TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind :80
    http-request deny if { path_beg /api }
    use_backend %[path,map(paths.map,shop)]

backend shop from base
    server one 10.0.0.1:80
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that the commands are called in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "haproxy.cfg").write_text("global\n    default-path config\n" + TEXT)
    (tmp_path / "paths.map").write_text("/other shop\n")
    (tmp_path / "good.yaml").write_text("cases:\n- {request: {url: http://a/api}, expect: {status: 403}}\n")
    (tmp_path / "bad.json").write_text('{"cases": [{"name": "one", "request": {"url": "http://a/"}, "expect": {"backend": "blog"}}]}')
    return tmp_path


def ran(binary: str, *words: str) -> subprocess.CompletedProcess[str]:
    return call_main(main, *words, "--config", "haproxy.cfg", "--haproxy", binary)


def test_as_a_process(home: Path, haproxy_binary: str) -> None:
    command = [str(COMMAND), "test", "good.yaml", "--config", "haproxy.cfg", "--haproxy", haproxy_binary]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (
        (done.returncode, done.stderr) == (0, "") and "1 passed, 0 failed" in done.stdout and "1 of 2 rules reached (50.0%)" in done.stdout
    )


def test_passed_and_failed(home: Path, haproxy_binary: str) -> None:
    done = ran(haproxy_binary, "good.yaml", "bad.json", "--junit", "out.xml", "--coverage")
    assert done.returncode == 1 and done.stdout.startswith("FAILED bad: one\n  backend is shop, not blog\n    line 12: use_backend"), done
    assert parse(home / "out.xml").getroot().get("failures") == "1"
    assert json.loads(ran(haproxy_binary, "good.yaml", "--json").stdout)["coverage"]["share"] == 0.5


def test_too_few_rules(home: Path, haproxy_binary: str) -> None:
    assert ran(haproxy_binary, "good.yaml", "--fail-under", "50").returncode == 0
    assert ran(haproxy_binary, "good.yaml", "--fail-under", "51").returncode == 1


@pytest.mark.parametrize(
    ("test", "text", "status", "said"),
    [
        ("none.yaml", "", 2, "none.yaml: No such file or directory"),
        ("bad.yaml", "cases: [{request: {}, expects: {}}]", 2, 'did you mean "expect"?'),
        ("bad.yaml", "cases: [{request: {url: 'x:'}, expect: {status: 200}}]", 2, "url in body begins with"),
        ("bad.yaml", "cases: [", 2, "bad.yaml: the YAML cannot be read: line 1"),
        ("haproxy.cfg", "frontend f\n bind :80\n nonsense\n", 3, "line 3 (nonsense): unknown keyword 'nonsense'"),
    ],
)
def test_what_cannot_be_ran(home: Path, haproxy_binary: str, test: str, text: str, status: int, said: str) -> None:
    if text:
        (home / test).write_text(text)
    done = ran(haproxy_binary, "good.yaml" if test == "haproxy.cfg" else test)
    assert (done.returncode, said in done.stderr, done.stdout) == (status, True, ""), done.stderr
    assert ran("/none", "good.yaml").returncode == 2
