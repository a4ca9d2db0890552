"""The errors for sections, children and parents that are not there."""

from collections.abc import Callable
from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadRequest, Exists, IndexOutOfRange, Missing, NativeError, NoParent, NotFound
from haproxy_native.text.document import Document

EDITOR = Editor()
DOCUMENT = Document.parse(b"defaults base\nfrontend web\nbackend app\nuserlist people\nmailers alerts\nhealthcheck hc\n")


def _parent(parent: str, name: str) -> Any:
    return EDITOR.resources[parent], name


def in_list(action: str) -> Any:
    call = getattr(EDITOR, action)
    return call(DOCUMENT, EDITOR.resources["ssl_front_uses"], _parent("frontends", "web"), 5, *([{}] if action == "replace" else []))


def whole(resource: str, action: str) -> Any:
    return getattr(EDITOR, action)(DOCUMENT, EDITOR.resources[resource], None, "none", *([{}] if action == "replace" else []), full=True)


def created_whole(resource: str, name: str) -> Any:
    return EDITOR.create(DOCUMENT, EDITOR.resources[resource], None, {"name": name}, full=True)


def listed(resource: str, parent: str) -> Any:
    return EDITOR.list_objects(DOCUMENT, EDITOR.resources[resource], _parent(parent, "none"))


def created(resource: str, parent: str, body: dict[str, Any]) -> Any:
    return EDITOR.create(DOCUMENT, EDITOR.resources[resource], _parent(parent, "none"), body)


def replaced(resource: str, parent: tuple[str, str] | None, body: dict[str, Any]) -> Any:
    return EDITOR.replace(DOCUMENT, EDITOR.resources[resource], _parent(*parent) if parent else None, "none", body)


def deleted(resource: str, parent: tuple[str, str] | None) -> Any:
    return EDITOR.delete(DOCUMENT, EDITOR.resources[resource], _parent(*parent) if parent else None, "none")


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        (lambda: listed("captures", "frontends"), NotFound, "not found"),
        (lambda: listed("crt_loads", "crt_stores"), NoParent, "missing parent: crt_store none does not exist"),
        (lambda: listed("nameservers", "resolvers"), NoParent, "missing parent: resolvers none does not exist"),
        (lambda: listed("peer_entries", "peers"), NoParent, "missing parent: peers none does not exist"),
        (lambda: listed("mailer_entries", "mailers_section"), NoParent, "missing parent: mailers none does not exist"),
        (lambda: listed("users", "userlists"), NotFound, "userlist none not found"),
        (lambda: listed("groups", "userlists"), NotFound, "not found"),
        (
            lambda: EDITOR.get_object(DOCUMENT, EDITOR.resources["groups"], _parent("userlists", "none"), "g"),
            NoParent,
            "missing parent: userlist none does not exist",
        ),
        (
            lambda: EDITOR.delete(DOCUMENT, EDITOR.resources["captures"], _parent("frontends", "none"), 0),
            NoParent,
            "missing parent: frontend none does not exist",
        ),
        (
            lambda: EDITOR.delete(DOCUMENT, EDITOR.resources["captures"], _parent("listens", "none"), 0),
            NoParent,
            "missing parent: listen none does not exist",
        ),
        (
            lambda: replaced("http_errors_sections", None, {"name": "none"}),
            Exists,
            "object already exists: http-errors none does not exists",
        ),
        (
            lambda: replaced("fcgi_apps", None, {"name": "none", "docroot": "/"}),
            Exists,
            "object already exists: fcgi-app none does not exists",
        ),
        (lambda: created("captures", "frontends", {"type": "request", "length": 1}), NotFound, "not found"),
        (lambda: created("users", "userlists", {"username": "u"}), BadRequest, "userlist not found"),
        (lambda: deleted("users", ("userlists", "none")), Missing, "missing object: userlist none does not exist"),
        (lambda: created("groups", "userlists", {"name": "g"}), Missing, "missing object: userlist none does not exist"),
        (lambda: created("servers", "backends", {"name": "s"}), NoParent, "missing parent: backend none does not exist"),
        (lambda: replaced("groups", ("userlists", "people"), {"name": "g"}), NotFound, "not found"),
        (
            lambda: replaced("mailer_entries", ("mailers_section", "alerts"), {"name": "m"}),
            Missing,
            "missing object: MailerEntry none does not exist in peer section alerts",
        ),
        (lambda: in_list("get_object"), Missing, "missing object: SSLFrontUse 5 does not exist in web frontend"),
        (lambda: in_list("delete"), Missing, "missing object: SSLFrontUse 5 does not exist in web frontend"),
        (lambda: in_list("replace"), IndexOutOfRange, "index out of range: Object with id 5 in frontend web out of range"),
        (lambda: replaced("frontends", None, {}), Missing, "missing object: Frontend none does not exist"),
        (lambda: replaced("backends", None, {}), Missing, "missing object: backend none does not exist"),
        (lambda: whole("rings", "get_object"), Missing, "missing object: Ring none does not exist"),
        (lambda: whole("defaults", "get_object"), Missing, "missing object: Defaults none does not exist"),
        (lambda: whole("backends", "get_object"), Missing, "missing object: Backend none does not exist"),
        (lambda: whole("frontends", "replace"), Missing, "missing object: Frontend none does not exist"),
        (lambda: whole("healthchecks", "replace"), Missing, "missing object: healthcheck none does not exist"),
        (lambda: replaced("healthchecks", None, {}), Missing, "missing object: healthcheck none does not exists"),
        (lambda: created_whole("healthchecks", "hc"), Exists, "object already exists: healthcheck hc already exist"),
        (lambda: created_whole("backends", "app"), Exists, "object already exists: backend app already exists"),
        (lambda: deleted("backends", None), Missing, "missing object: backend none does not exist"),
        (lambda: deleted("groups", ("userlists", "people")), Missing, "missing object: group none does not exist"),
        (lambda: deleted("servers", ("backends", "app")), Missing, "missing object: server none does not exist in app backend"),
    ],
)
def test_what_is_said(action: Callable[[], Any], kind: type[NativeError], text: str) -> None:
    with pytest.raises(NativeError) as raised:
        action()
    assert (type(raised.value), str(raised.value)) == (kind, text)


@pytest.mark.parametrize(("resource", "parent"), [("servers", "backends"), ("acls", "frontends"), ("tables", "peers")])
def test_most_children_of_a_missing_parent_are_an_empty_list(resource: str, parent: str) -> None:
    assert listed(resource, parent) == []
