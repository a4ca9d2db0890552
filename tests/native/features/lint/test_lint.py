"""Every check finds its own in the seeded files and nothing else; comments switch it off; nothing makes it fail, or slow."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.features.lint.finding import Finding, checks
from haproxy_native.features.lint.lint import ConfigurationOrigin, findings
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join
from tests.laws.settings import law
from tests.native.features.lint.seeds import FACTS, MARK, faulty, seeds
from tests.steps import is_linear

# Checks whose findings are at no line of the configuration.
AT_FILES = ("file-unused",)
AT_LINES = [id_ for id_ in checks() if id_ not in AT_FILES]


def found(text: str, id_: str = "") -> list[Finding]:
    return findings(Document.parse(text), FACTS, wanted=[checks()[id_]] if id_ else ())


@pytest.mark.parametrize("id_", AT_LINES)
def test_a_check_finds_its_own_and_nothing_else(id_: str) -> None:
    text = seeds()[id_]
    lines = [each.line for each in found(text, id_) if each.file == ""] if id_ != "map-value-undefined" else faulty(text)
    assert lines == faulty(text) and lines
    assert {each.id for each in found(text, id_)} == {id_}


def test_a_value_of_a_map_is_found_in_the_map() -> None:
    (one,) = found(seeds()["map-value-undefined"], "map-value-undefined")
    assert (one.file, one.line, one.object, one.others) == ("/x/wrong.map", 2, "file", ("frontend/f",))


def test_every_seed_is_of_a_check() -> None:
    assert list(seeds()) and set(seeds()) == set(AT_LINES)


@pytest.mark.parametrize("id_", [id_ for id_ in AT_LINES if id_ != "map-value-undefined"])
def test_comments_switch_a_check_off(id_: str) -> None:
    text = seeds()[id_]
    assert found(text.replace(MARK, f"# why not; lint: ignore=other, {id_}"), id_) == []
    assert found(f"# lint: ignore={id_}\n\n{text}", id_) == [] == found(f"# lint: ignore=*\n\n{text}", id_)
    assert found(text.replace(MARK, "# lint: ignore=other"), id_) != []


def test_a_comment_above_a_line_is_for_that_line() -> None:
    text = (
        "defaults\n  mode http\nfrontend f\n  # lint: ignore=acl-undefined\n  # why\n  http-request deny if a\n  http-request deny if b\n"
    )
    assert [each.line for each in found(text, "acl-undefined")] == [7]


@pytest.mark.parametrize("header", ["frontend f # lint: ignore=acl-undefined\n", "# lint: ignore=acl-undefined\nfrontend f\n"])
def test_a_comment_at_a_header_is_for_its_section(header: str) -> None:
    text = f"global\n\n{header}  http-request deny if a\n\nfrontend g\n  http-request deny if a\n"
    assert [each.section for each in found(text, "acl-undefined")] == ["frontend g"]


def test_a_line_that_would_be_right() -> None:
    text = "frontend f\n  acl admin path /x\n  http-request deny if !admn # admn\n  use_backend a admin\nbackend a\n"
    assert [each.new_line for each in found(text) if each.new_line] == ["http-request deny if !admin # admin", "use_backend a if admin"]


def test_secrets_are_masked() -> None:
    (one,) = found("userlist u\n  user a insecure-password hunter2\n", "password-in-clear")
    assert "hunter2" not in repr(one) and "<masked>" in one.text


def test_of_several_files_each_has_its_lines() -> None:
    data = join(
        [(MAIN, b"defaults d\n  timeout client 1s\n"), ("/b.cfg", b"# x\n\nfrontend f from d\n  bind :80\n  http-request deny if a\n")]
    )
    (one,) = findings(Document.parse(data), wanted=[checks()["acl-undefined"]], origin=ConfigurationOrigin("/a.cfg"))
    assert (one.file, one.line, one.object) == ("/b.cfg", 5, "frontend/f")
    (two,) = findings(Document.parse(data.replace(b"deny", b"x").replace(b"client", b"x")), wanted=[checks()["timeout-missing"]])
    assert two.line == 3


WORDS = [word for text in seeds().values() for word in text.split()]


@law(300)
@given(some.lists(some.sampled_from([*sorted(set(WORDS)), "\n", "\n  ", '"', "'", "\\", "{", "}", "!", "$", "%[", "é", "\0"]), max_size=60))
def test_no_text_makes_it_fail(words: list[str]) -> None:
    found(" ".join(words))


def test_time_is_linear() -> None:
    def lint(count: int) -> Callable[[], object]:
        lines = "".join(
            f"frontend f{i}\n bind :{i}\n acl a path /x\n use_backend b{i} if a\nbackend b{i}\n server s 10.0.0.1:{i}\n"
            for i in range(count)
        )
        rules = "".join(f" use_backend b{i} if {{ hdr(host) h{i} }} {{ path /x }}\n" for i in range(count))
        document = Document.parse(f"{lines}frontend many\n{rules}")
        return lambda: findings(document)

    lint(1)()
    assert is_linear(lint, 20)
