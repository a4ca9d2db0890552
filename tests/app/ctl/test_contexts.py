"""Contexts: which level counts, and that secrets stay with their server and their owner."""

import os
import pty
from argparse import Namespace
from pathlib import Path

import pytest

from dataplaneapi.ctl import contexts
from dataplaneapi.ctl.failures import Failure

FILE = """\
current: edge
contexts:
  edge:
    url: https://edge:5556
    user: ann
    password: secret
  bare:
    url: http://bare:5555
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(contexts.PREFIX)]:
        monkeypatch.delenv(name)
    path = tmp_path / "ctl.yaml"
    path.write_text(FILE)
    path.chmod(0o600)
    monkeypatch.setenv("DATAPLANECTL_CONFIG", str(path))
    return path


def test_the_current_context_or_the_one_that_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert contexts.context_of(Namespace()).members == {"url": "https://edge:5556", "user": "ann", "password": "secret"}
    assert contexts.context_of(Namespace(context="bare")).url == "http://bare:5555"
    monkeypatch.setenv("DATAPLANECTL_CONTEXT", "bare")
    assert contexts.context_of(Namespace()).url == "http://bare:5555"
    with pytest.raises(Failure, match="context nope is not in .*; there are edge, bare"):
        contexts.context_of(Namespace(context="nope"))


def test_credentials_go_to_no_server_that_is_named_elsewhere(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert contexts.context_of(Namespace(url="http://other:1")).members == {"url": "http://other:1"}
    assert contexts.context_of(Namespace(context="edge", url="http://other:1")).members == {"url": "http://other:1"}
    monkeypatch.setenv("DATAPLANECTL_SOCKET", "/run/x.sock")
    assert contexts.context_of(Namespace()).members == {"socket": "/run/x.sock"}


def test_a_nearer_user_goes_without_the_password_of_another(file: Path) -> None:
    assert contexts.context_of(Namespace(user="bob")).members == {"user": "bob", "url": "https://edge:5556"}
    assert contexts.context_of(Namespace(token_file="/t")).members == {"token_file": "/t", "url": "https://edge:5556"}
    assert contexts.context_of(Namespace(ca="/ca")).get("password") == "secret"


def test_without_a_file_it_is_this_machine(file: Path) -> None:
    file.unlink()
    assert (contexts.context_of(Namespace()).url, contexts.context_of(Namespace()).members) == ("http://127.0.0.1:5555", {})


def test_secrets_that_others_can_read_are_refused(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    with pytest.raises(Failure, match=r"others can read it \(mode 0640\): chmod 600"):
        contexts.context_of(Namespace())
    file.write_text(FILE.replace("    password: secret\n", "    password_file: " + str(tmp_path / "password") + "\n"))
    context = contexts.context_of(Namespace())
    (tmp_path / "password").write_text("from a file\nsecond line\n")
    (tmp_path / "password").chmod(0o644)
    with pytest.raises(Failure, match="contains a secret"):
        context.password()
    (tmp_path / "password").chmod(0o600)
    assert context.password() == "from a file"
    with pytest.raises(Failure, match="contains a secret"):
        contexts.check_key(str(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contexts: [a]", "contexts must be a map"),
        ("contxts: {a: {}}", "unknown key .contxts.; expected contexts or current"),
        ("contexts: {a: {ulr: x}}", "unknown key .ulr. in context a"),
        ("contexts: {a: {url: 1}}", "context a must be a map of texts"),
        ("contexts: {a: [", "ctl.yaml: while parsing"),
    ],
)
def test_a_file_that_is_wrong(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(Failure, match=message):
        contexts.context_of(Namespace())


def test_a_password_is_asked_for_on_a_terminal_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, end = pty.openpty()
    with os.fdopen(end) as opened:
        monkeypatch.setattr("sys.stdin", opened)
        monkeypatch.setattr("getpass.getpass", lambda prompt: f"typed at: {prompt}")
        assert contexts.context_of(Namespace(user="bob")).password() == "typed at: Password of bob at https://edge:5556: "
    os.close(terminal)
    with open(os.devnull) as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(Failure, match="no password for user bob"):
            contexts.context_of(Namespace(user="bob")).password()
