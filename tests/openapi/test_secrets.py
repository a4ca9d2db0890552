"""Every member with a text, and every function of HAProxy with a text argument, is declared as secret, or listed as harmless."""

import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

from haproxy_native.editing import secret_kinds
from haproxy_native.editing.secrets import LINES, MESSAGE, TEXT, masked_lines, shapes
from haproxy_native.grammar.schema import followed
from openapi import bundle, keywords
from tests.haproxy import binaries

DECLARED = bundle.load(bundle.HERE / "haproxy" / "secrets.yaml")
# What `x-secret` says beside the kinds of one text, the names of schemas, and true and false.
OF_SEVERAL = (LINES, TEXT, MESSAGE, "member", "headers", "objects")
# How many members hold text and no credential. A new one is looked at.
MOST_PLAIN = 372


@cache
def document() -> dict[str, Any]:
    return bundle.document()


def members() -> Iterator[tuple[str, dict[str, Any]]]:
    """All members of all schemas, also of those that stand in a path."""
    for place, node in bundle.nodes({key: document()[key] for key in ("components", "paths")}):
        if isinstance(node.get("properties"), dict) and not place.endswith("/properties"):
            yield from ((name, dict(followed(document(), schema))) for name, schema in node["properties"].items())


def kinds_of(schema: dict[str, Any]) -> list[Any]:
    elements = followed(document(), schema.get("items", {}))
    return [each["x-secret"] for each in (schema, elements) if "x-secret" in each]


def holds_text(schema: dict[str, Any]) -> bool:
    """Whether a member, its elements or its values are texts of no fixed words."""
    held = followed(document(), schema["items"]) if schema.get("type") == "array" else schema
    inner = held.get("additionalProperties")
    texts = [held, followed(document(), inner) if isinstance(inner, dict) else {}]
    return any(each.get("type") == "string" and "enum" not in each and each.get("format") != "date-time" for each in texts)


def test_each_member_that_holds_text_is_a_secret_or_listed() -> None:
    undeclared = {name for name, schema in members() if holds_text(schema) and not kinds_of(schema)}
    assert undeclared == set(DECLARED["plain"]), "declare x-secret, or list it in openapi/haproxy/secrets.yaml"
    assert len(DECLARED["plain"]) <= MOST_PLAIN


def test_each_word_of_a_declaration_means_something() -> None:
    for name, schema in members():
        for kind in kinds_of(schema):
            word = kind.split()[0] if isinstance(kind, str) else kind
            known = (*secret_kinds.KINDS, *OF_SEVERAL, *document()["components"]["schemas"])
            assert isinstance(word, bool) or word in known, name


@cache
def functions() -> dict[str, str]:
    """What the oldest and the newest HAProxy list: names of sample fetches and converters, and their arguments."""
    found = dict[str, str]()
    for binary in (binaries.exactly("2.6"), binaries.newest()):
        ran = subprocess.run([binary, "-dKall", "-q", "-c", "-f", "/dev/null"], capture_output=True, text=True, check=False)
        lists = dict(re.findall(r"# List of registered (.+?):\n((?:(?!# List).*\n)*)", ran.stdout))
        lines = lists["sample fetch functions"] + lists["sample converter functions"]
        found |= dict(re.findall(r"^(?:\[[^\]]*\] )?([\w.+-]+)(?:\((.*)\))?: ", lines, re.MULTILINE))
        found |= {name: found.get(name, "") for name in re.findall(r"^([\w.]+) = ", lists["ACL keywords"], re.MULTILINE)}
    return found


def test_each_function_that_takes_a_text_is_listed() -> None:
    wrong = {}
    for name, arguments in functions().items():
        lists = [kind for kind in ("functions", "literals") if any(fnmatchcase(name, each) for each in DECLARED[kind])]
        if len(lists) != 1 and (lists or re.search("string|regex|buffers", arguments)):
            wrong[name] = arguments, lists
    assert wrong == {}


@pytest.mark.parametrize(
    "name",
    [
        *("req.cook", "cookie", "url_param", "urlp", "query", "url", "pathq", "req.body", "req.body_param", "payload", "env", "var", "str"),
        *("http_auth_pass", "http_auth_bearer", "req.hdrs", "res.hdr", "capture.req.hdr", "capture.req.uri", "sc_key", "unique-id"),
        *("ssl_fc_session_key", "ssl_fc_client_random", "ssl_bc_session_key", "ssl_fc_exporter_secret", "bin", "rdp_cookie"),
    ],
)
def test_a_sample_that_may_be_a_credential_is_compared_in_secret(name: str) -> None:
    assert name in functions()
    assert not secret_kinds.pattern("-m str hunter2", {"criterion": name}, "criterion")


def test_what_is_compared_is_a_function_of_some_haproxy() -> None:
    assert [each for each in DECLARED["compared"] if not any(fnmatchcase(name, each) for name in functions())] == []


def test_what_is_behind_a_keyword_that_nothing_declares_is_masked() -> None:
    verdicts = [each for each in keywords.verdicts(document()) if each.state != keywords.DECLARED and each.group != "crt-list"]
    says = {keywords.groups()[each.group].says.format(each.word.rstrip("*(")) for each in verdicts if (each.word,) not in shapes()}
    assert len(says) > 15 and [line for each in says if "hunter2" in (line := masked_lines(f"{each} hunter2"))] == []
