"""Scopes and what stands in them: read, made, changed, deleted; everything else of the file stays byte for byte."""

from collections.abc import Callable

import pytest

from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue, Exists, Missing
from haproxy_native.spoe.editor import ScopeEditor, check_scope, outline, scopes
from haproxy_native.text.document import Document

AGENTS, GROUPS, MESSAGES = (resources()[f"spoe_{name}"] for name in ("agents", "groups", "messages"))
EDITOR = ScopeEditor()
TEXT = """\
# _version=3
# the operators' own

[one]
# who asks
spoe-agent   a1   # the first
\tmessages  m1
    option  async
    no option pipelining
    timeout hello 2s
    zork 1

spoe-message m1
  args ip=src
  acl x src 192.0.2.1
  event on-client-session if ! x
# the mirror
[two]
spoe-message m1
  args ip=src
[one]
spoe-group g1
  messages m1
"""


def parse(text: str = TEXT) -> Document:
    return Document.parse(text, outline=outline())


def test_reading() -> None:
    document = parse()
    assert scopes(document) == ["[one]", "[two]"]
    agent = {"async": "enabled", "hello_timeout": 2000, "messages": "m1", "name": "a1", "pipelining": "disabled"}
    assert EDITOR.list_objects(document, "[one]", AGENTS) == [agent] == [EDITOR.get_object(document, "[one]", AGENTS, "a1")]
    assert EDITOR.list_objects(document, "[one]", MESSAGES) == [
        {
            "acl": [{"acl_name": "x", "criterion": "src", "value": "192.0.2.1"}],
            "args": "ip=src",
            "event": {"cond": "if", "cond_test": "! x", "name": "on-client-session"},
            "name": "m1",
        }
    ]
    assert EDITOR.list_objects(document, "[two]", MESSAGES) == [{"args": "ip=src", "name": "m1"}]
    assert EDITOR.list_objects(document, "[two]", GROUPS) == []
    assert EDITOR.list_objects(document, "[one]", GROUPS) == [{"messages": "m1", "name": "g1"}], "a scope may be opened twice"


Edit = Callable[[Document], Document]


def replacing(old: str, new: str) -> str:
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda it: EDITOR.create_scope(it, "[a]"), replacing("[one]\n# who", "[a]\n[one]\n# who")),
        (lambda it: EDITOR.create_scope(it, "[three]"), replacing("if ! x\n", "if ! x\n\n[three]\n")),
        (lambda it: EDITOR.create_scope(it, "[x]"), TEXT + "\n[x]\n"),
        (lambda it: EDITOR.delete_scope(it, "[two]"), replacing("# the mirror\n[two]\nspoe-message m1\n  args ip=src\n[one]", "[one]")),
        (
            lambda it: EDITOR.delete_scope(it, "[one]"),
            "# _version=3\n# the operators' own\n\n# the mirror\n[two]\nspoe-message m1\n  args ip=src\n",
        ),
        (
            lambda it: EDITOR.create(it, "[two]", AGENTS, {"name": "a2", "groups": "x y", "idle_timeout": 60000}),
            replacing("[two]\n", "[two]\nspoe-agent a2\n\tgroups x y\n\ttimeout idle 60000\n\n"),
        ),
        (
            lambda it: EDITOR.create(it, "[two]", MESSAGES, {"name": "a"}),
            replacing("[two]\n", "[two]\nspoe-message a\n\n"),
        ),
        (
            lambda it: EDITOR.create(it, "[one]", MESSAGES, {"name": "m2"}),
            replacing("if ! x\n# the mirror", "if ! x\n\nspoe-message m2\n\n# the mirror"),
        ),
        (
            lambda it: EDITOR.replace(it, "[one]", AGENTS, "a1", {"name": "a1", "messages": "m1 m2", "async": "enabled"}),
            replacing("\tmessages  m1\n", "\tmessages  m1 m2\n").replace("    no option pipelining\n    timeout hello 2s\n", ""),
        ),
        (
            lambda it: EDITOR.replace(it, "[two]", MESSAGES, "m1", {"name": "other", "args": "a=method b=path"}),
            replacing("spoe-message m1\n  args ip=src\n[one]", "spoe-message other\n  args a=method b=path\n[one]"),
        ),
        (
            lambda it: EDITOR.replace(it, "[one]", MESSAGES, "m1", {"name": "m1", "args": "ip=src", "event": {"name": "on-tcp-response"}}),
            replacing("  acl x src 192.0.2.1\n  event on-client-session if ! x\n", "  event on-tcp-response\n"),
        ),
        (lambda it: EDITOR.delete(it, "[two]", MESSAGES, "m1"), replacing("spoe-message m1\n  args ip=src\n[one]", "[one]")),
        (lambda it: EDITOR.delete(it, "[one]", GROUPS, "g1"), replacing("spoe-group g1\n  messages m1\n", "")),
    ],
)
def test_an_edit(edit: Edit, text: str) -> None:
    assert edit(parse()).text == text


SEVERAL = "[s]\nspoe-agent a\n  messages a  b # first\n  use-backend x\n  messages c\n"


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ("a b c", SEVERAL),
        ("a b c d", SEVERAL.replace("messages c", "messages c d")),
        ("a b d", SEVERAL.replace("messages c", "messages d")),
        ("a b", SEVERAL.replace("  messages c\n", "")),
        ("a c", SEVERAL.replace("a  b", "a  c").replace("  messages c\n", "")),
        ("", SEVERAL.replace("  messages c\n", "").replace("  messages a  b # first\n", "")),
    ],
)
def test_names_on_several_lines(messages: str, text: str) -> None:
    document = parse(SEVERAL)
    agent = {"messages": "a b c", "name": "a", "use-backend": "x"}
    assert EDITOR.get_object(document, "[s]", AGENTS, "a") == agent
    assert EDITOR.replace(document, "[s]", AGENTS, "a", {**agent, "messages": messages}).text == text


def test_lines_of_a_new_agent() -> None:
    body = {"name": "a", "async": "enabled", "maxerrrate": 1, "max-frame-size": 300, "processing_timeout": 10, "groups": "g"}
    text = EDITOR.create(parse("[s]\n"), "[s]", AGENTS, body).text
    words = "groups g", "maxerrrate 1", "max-frame-size 300", "option async", "timeout processing 10"
    assert text == "\n  ".join(["[s]\nspoe-agent a", *words]) + "\n"


def test_the_first_of_a_file() -> None:
    document = EDITOR.create_scope(parse(""), "[one]")
    document = EDITOR.create(document, "[one]", AGENTS, {"name": "a", "messages": "m", "log": [{"global": True}]})
    document = EDITOR.create(document, "[one]", MESSAGES, {"name": "m", "args": "src"})
    assert document.text == "[one]\nspoe-agent a\n  log global\n  messages m\n\nspoe-message m\n  args src\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_line_ends_are_the_file_s(ending: str) -> None:
    document = EDITOR.create(parse(f"[one]{ending}"), "[one]", GROUPS, {"name": "g", "messages": "m"})
    text = EDITOR.create_scope(document, "[two]").text
    end = ending or "\n"
    assert text == end.join(["[one]", "spoe-group g", "  messages m", "", "[two]", ""])


@pytest.mark.parametrize(
    ("edit", "kind", "said"),
    [
        (lambda it: check_scope(it, "[x]"), Missing, "missing object: scope [x] does not exist"),
        (lambda it: EDITOR.delete_scope(it, "[x]"), Missing, "missing object: scope [x] does not exist"),
        (lambda it: EDITOR.list_objects(it, "[x]", AGENTS), Missing, "missing object: scope [x] does not exist"),
        (lambda it: EDITOR.create(it, "[x]", AGENTS, {"name": "a"}), Missing, "missing object: scope [x] does not exist"),
        (lambda it: EDITOR.create_scope(it, "[one]"), Exists, "object already exists: scope [one] already exists"),
        (lambda it: EDITOR.create_scope(it, "one"), BadValue, "validation error: 'one' is not the name of a scope"),
        (lambda it: EDITOR.create_scope(it, "[a b]"), BadValue, "validation error: '[a b]' is not the name of a scope"),
        (lambda it: EDITOR.create_scope(it, "[]"), BadValue, "validation error: '[]' is not the name of a scope"),
        (
            lambda it: EDITOR.create(it, "[one]", AGENTS, {"name": "a1"}),
            Exists,
            "object already exists: spoe-agent a1 already exists",
        ),
        (lambda it: EDITOR.create(it, "[one]", AGENTS, {"name": "a", "groups": "a\nb"}), BadValue, "validation error: "),
        (lambda it: EDITOR.get_object(it, "[two]", AGENTS, "a1"), Missing, "missing object: agent a1 does not exist"),
        (lambda it: EDITOR.replace(it, "[two]", AGENTS, "a1", {"name": "a1"}), Missing, "missing object: spoe-agent a1 does not exist"),
        (lambda it: EDITOR.delete(it, "[two]", GROUPS, "g1"), Missing, "missing object: spoe-group g1 does not exist"),
    ],
)
def test_what_is_refused(edit: Callable[[Document], object], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as refused:
        edit(parse())
    assert str(refused.value).startswith(said)
