"""Split sections into parts, and join parts into sections."""

from haproxy_native.editing.editor import Editor
from haproxy_native.features.apply.sections import SELF, object_of, part_name, parts_of
from haproxy_native.text.document import Document

EDITOR = Editor()
DOCUMENT = Document.parse("""\
global
    log 127.0.0.1 local0
backend a/b
    balance source
    http-request deny
    server s 127.0.0.1:1 weight 5
""")


def test_there_and_back() -> None:
    for collection, name in (("backends", "a/b"), ("global", "")):
        resource = EDITOR.resources[collection]
        object_ = EDITOR.get_object(DOCUMENT, resource, None, name, full=True)
        assert object_of(EDITOR, resource, name, parts_of(EDITOR, resource, object_)) == object_


def test_parts() -> None:
    resource = EDITOR.resources["backends"]
    parts = parts_of(EDITOR, resource, EDITOR.get_object(DOCUMENT, resource, None, "a/b", full=True))
    assert set(parts) == {SELF, ("servers", "s")} and parts["servers", "s"]["weight"] == 5
    assert set(parts[SELF]) == {"balance", "http_request_rule_list"}, "lists without names are members"
    assert [part_name(EDITOR, resource, "a/b", part) for part in parts] == ["backend/a%2Fb", "backend/a%2Fb/server/s"]
