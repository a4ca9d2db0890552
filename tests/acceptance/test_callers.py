"""Take the users of this API from HAProxy's configuration. Only admins may change users, because a new password gives their rights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import CONFIGURATION, USER

CONFIG = """\
backend shop from plain
    server one 127.0.0.1:1 weight 10

userlist controller
    user admin insecure-password adminpwd
    user eve insecure-password eve

userlist others
    user bob insecure-password bob
"""
EVE = ("eve", "eve")


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Quick]:
    given: dict[str, Any] = {"user": [], "role_of": {"users": {"admin": "admin", "eve": "editor", "root*": "admin"}}}
    with HAProxy(tmp_path, (PLAIN + CONFIG).format(), binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi=given) as running:
        yield running


def ask(sidecar: Quick, method: str, path: str, body: Any = None, by: tuple[str, str] = EVE) -> httpx2.Response:
    sent: dict[str, Any] = {"content": body, "headers": {"Content-Type": "text/plain"}} if isinstance(body, str) else {"json": body}
    if "VERSION" in path:
        path = path.replace("VERSION", f"version={sidecar.version()}")
    return httpx2.request(method, f"http://127.0.0.1:{sidecar.port}{path}", auth=by, timeout=60, verify=False, **sent)


def test_an_editor_makes_itself_no_admin(sidecar: Quick) -> None:
    users, root = f"{CONFIGURATION}/users", {"username": "root1", "password": "mine", "secure_password": False}
    text = sidecar.text()
    transaction = ask(sidecar, "POST", f"{SERVICES}/transactions?VERSION").json()["id"]
    calls: list[tuple[str, str, Any]] = [
        ("POST", f"{users}?userlist=controller&VERSION", root),
        ("POST", f"{users}?userlist=controller&transaction_id={transaction}", root),
        ("PUT", f"{users}/admin?userlist=controller&VERSION", {**root, "username": "admin"}),
        ("DELETE", f"{users}/admin?userlist=controller&VERSION", None),
        ("DELETE", f"{CONFIGURATION}/userlists/controller?VERSION", None),
        ("POST", f"{CONFIGURATION}/raw?VERSION", text.replace("password adminpwd", "password mine")),
        ("POST", f"{CONFIGURATION}/raw?VERSION", text + "\nuserlist controller\n    user root1 insecure-password mine\n"),
        ("POST", f"{CONFIGURATION}/raw?VERSION", "userlist controller\n    user root1 insecure-password mine\n" + text),
        ("POST", f"{CONFIGURATION}/raw?VERSION", text.replace("userlist controller", "userlist old").replace("others", "controller")),
        ("POST", "/v3/sidecar/batch", [{"method": "POST", "path": f"{users}?userlist=controller", "body": root}]),
        ("PUT", "/v3/sidecar/apply?owner=eve", {"userlists": [{"name": "controller", "users": {"root1": root}}]}),
        ("POST", "/v3/sidecar/rename", {"object": "userlist/controller", "to": "old"}),
    ]
    for call in calls:
        answer = ask(sidecar, *call)
        assert answer.status_code == 403 and "takes role admin" in answer.json()["message"], (call, answer.text)
    assert sidecar.text() == text
    assert ask(sidecar, "GET", "/v3/sidecar/whoami", by=("root1", "mine")).status_code == 401


def test_what_is_none_of_it_stays_as_it_was(sidecar: Quick) -> None:
    users = f"{CONFIGURATION}/users"
    assert ask(sidecar, "GET", f"{users}?userlist=controller").json()[0]["password"] == "<masked>"
    added = {"username": "carl", "password": "x", "secure_password": False}
    assert ask(sidecar, "POST", f"{users}?userlist=others&VERSION", added).status_code in (201, 202)
    assert ask(sidecar, "POST", f"{users}?userlist=controller&VERSION", added, by=USER).status_code in (201, 202)
    assert ask(sidecar, "GET", "/v3/sidecar/whoami", by=("carl", "x")).json()["roles"] == []


def test_the_streams_of_who_is_no_user_any_more(sidecar: Quick) -> None:
    """The streams of a deleted user end with the change of the userlist, by a call or by an edit of the file."""

    def by_call() -> None:
        answer = sidecar.delete("users/eve", userlist="controller", version=sidecar.version())
        assert answer.status_code in (202, 204), answer.text

    def by_edit() -> None:
        sidecar.haproxy.file.write_text(sidecar.text().replace("password adminpwd", "password other"))

    for caller, change in ((EVE, by_call), (USER, by_edit)):
        with httpx2.stream("GET", f"http://127.0.0.1:{sidecar.port}/v3/sidecar/events", auth=caller, timeout=60, verify=False) as answer:
            assert answer.status_code == 200
            change()
            list(answer.iter_lines())
        assert ask(sidecar, "GET", "/v3/sidecar/whoami", by=caller).status_code == 401
