"""`ctl edit`: nothing that others have changed is lost, and nothing that was typed."""

import sys
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import CONFIGURATION, USER

SERVER = "backend/shop/server/web1"


@pytest.fixture
def editor(tmp_path: Path, sidecar: Quick):  # type: ignore[no-untyped-def]
    """Makes an editor of a shell script, whose first argument is the file and in which `change` changes the server meanwhile."""

    def made(script: str) -> str:
        file = tmp_path / "editor"
        url = f"http://127.0.0.1:{sidecar.port}{CONFIGURATION}/backends/shop/servers/web1"
        python = (
            "import sys, json, httpx2; more = {'auth': "
            + repr(USER)
            + f", 'timeout': 60}}; url = {url!r}; body = httpx2.get(url, **more).json()\n"
        )
        python += "body |= json.loads(sys.argv[1]); version = httpx2.get(url.partition('backends')[0] + 'version', **more).json()\n"
        python += "assert httpx2.put(url, **more, params={'version': version}, json=body).is_success\n"
        (tmp_path / "change.py").write_text(python)
        change = f'change() {{ {sys.executable} {tmp_path}/change.py "$1"; }}'
        text = f"#!/bin/sh\nset -e\ncalls={tmp_path}/calls\n{change}\necho x >> $calls\n{script}\n"
        file.write_text(text)
        file.chmod(0o755)
        return str(file)

    return made


def test_an_edited_object_is_sent(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    done = ctl("edit", SERVER, EDITOR=editor('sed -i "s/weight: 10/weight: 71/" "$1"'))
    assert (done.returncode, done.stderr) == (0, f"{SERVER} was changed\n")
    assert "weight 71" in sidecar.line("server web1")
    done = ctl("edit", "backend", "shop", "--wait", EDITOR=editor('sed -i "s/roundrobin/leastconn/" "$1"'))
    assert done.returncode == 0 and sidecar.line("balance") == "balance leastconn"
    assert sidecar.line("http-request deny") and "weight 71" in sidecar.line("server web1"), "what stands in it stays"


def test_a_plan_of_what_was_edited(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    before = sidecar.text()
    done = ctl("edit", SERVER, "--dry-run", EDITOR=editor('sed -i "s/weight: 10/weight: 71/" "$1"'))
    assert "live: set server shop/web1 weight 71\n" in done.stdout and sidecar.text() == before, done
    kept = Path(done.stderr.partition("your edits are in ")[2].strip())
    assert "weight: 71" in kept.read_text()
    kept.unlink()
    kept.parent.rmdir()


def test_without_a_change_nothing_is_sent(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    version = sidecar.version()
    for script in ("true", ': > "$1"', 'echo "# a comment" >> "$1"'):
        assert ctl("edit", SERVER, EDITOR=editor(script)).stderr == "nothing was changed\n"
    assert sidecar.version() == version


def test_what_others_change_elsewhere_meanwhile_is_merged(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    script = editor("""change '{"maintenance": "enabled"}'; sed -i "s/weight: 10/weight: 72/" "$1\"""")
    done = ctl("edit", SERVER, EDITOR=script)
    assert done.returncode == 0, done.stderr
    assert "weight 72" in sidecar.line("server web1") and "disabled" in sidecar.line("server web1")
    assert (ctl.home / "calls").read_text() == "x\n"


def test_a_conflict_is_shown_in_the_editor_again(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    script = """
if [ "$(wc -l < $calls)" = 1 ]; then change '{"weight": 5}'; sed -i "s/weight: 10/weight: 73/" "$1"
else cp "$1" $calls.shown; sed -i "s/weight: 73/weight: 74/" "$1"; fi"""
    done = ctl("edit", SERVER, EDITOR=editor(script))
    assert done.returncode == 0, done.stderr
    shown = (ctl.home / "calls.shown").read_text()
    assert "# weight: 5 is the value of others, 73 is yours" in shown and "\nweight: 73\n" in shown
    assert "weight 74" in sidecar.line("server web1")


def test_what_is_refused_comes_back_with_the_reason_and_is_kept(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    script = 'cp "$1" $calls.shown; sed -i "s/weight: 10/weight: 1000/" "$1"'
    done = ctl("edit", SERVER, EDITOR=editor(script))
    assert done.returncode == 1 and "your edits are in /" in done.stderr, done.stderr
    kept = Path(done.stderr.partition("your edits are in ")[2].split()[0])
    assert "weight: 1000" in kept.read_text()
    assert "# 422" in (ctl.home / "calls.shown").read_text() or "# 400" in (ctl.home / "calls.shown").read_text()
    kept.unlink()
    kept.parent.rmdir()
    assert "weight 10" in sidecar.line("server web1")


def test_an_editor_that_fails_and_yaml_that_is_none(ctl: Ctl, sidecar: Quick, editor) -> None:  # type: ignore[no-untyped-def]
    assert "ended with 3" in ctl.refusal(2, "edit", SERVER, EDITOR=editor("exit 3"))
    assert "No such file" in ctl.refusal(2, "edit", SERVER, EDITOR="/no/such/editor")
    said = ctl.refusal(2, "edit", SERVER, EDITOR=editor('echo "a: [" > "$1"'))
    kept = Path(said.partition("your edits are in ")[2].split()[0])
    assert kept.read_text() == "a: [\n"
    kept.unlink()
    kept.parent.rmdir()
    assert "cannot be edited" in ctl.refusal(2, "edit", "map", "x.map")
