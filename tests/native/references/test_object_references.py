"""All references to an object, and another name in all of them."""

import pytest

from haproxy_native.errors import BadRequest, BadValue, Exists
from haproxy_native.references.lines import find_target
from haproxy_native.references.object_references import check_name, references_to_file, references_to_object, rename_object
from haproxy_native.text.document import Document
from tests.native.references.sample import TEXT, found


def test_another_name_changes_its_words_alone() -> None:
    new = rename_object(found("backend/shop"), "new").text
    changed = [(old, line) for old, line in zip(TEXT.splitlines(), new.splitlines(), strict=True) if old != line]
    assert [line.strip() for _, line in changed][:3] == [
        'use_backend "new" if api or !admin   # shop',
        "use_backend %[req.hdr(host),map(/x/hosts.map,new)] if { acl(api) } { nbsrv(new) gt 1 }",
        "http-request set-var-fmt(txn.be) new if api",
    ]
    assert len(changed) == 9 and "  default_backend new\n" in new
    assert rename_object(found("backend/new", new), "shop").text == TEXT.replace('sh"op"', "shop")


def test_an_acl_is_that_of_its_section() -> None:
    text = "frontend f\n  acl a path /\n  http-request deny if a { path a } !a\nfrontend g\n  acl a path /g\n  http-request deny if a\n"
    assert rename_object(found("frontend/f/acl/a", text), "b").text == text.replace("acl a path /\n", "acl b path /\n").replace(
        "if a { path a } !a", "if b { path a } !b"
    )


@pytest.mark.parametrize(
    ("object_", "name", "error"),
    [
        ("backend/shop", "shop2", Exists),
        ("backend/shop", "a b", BadValue),
        ("backend/shop", "", BadValue),
        ("backend/shop", 'a"b', BadValue),
        ("stick_table/shop", "other", BadRequest),
        ("frontend/site/acl/api", "admin", Exists),
    ],
)
def test_names_that_cannot_be(object_: str, name: str, error: type[Exception]) -> None:
    document = Document.parse(TEXT)
    with pytest.raises(error):
        check_name(document, find_target(document, object_), name)


def test_defaults_without_a_name_get_one() -> None:
    document = Document.parse("defaults\n  mode http\ndefaults\tfrom b # c\nbackend b\n")
    for number, text in (
        (1, "defaults other\n  mode http\ndefaults\tfrom b # c\n"),
        (2, "defaults\n  mode http\ndefaults other\tfrom b # c\n"),
    ):
        wanted = find_target(document, f"defaults/unnamed_defaults_{number}")
        check_name(document, wanted, "other")
        assert rename_object(references_to_object(document, wanted, "/", lambda path: None), "other").text == f"{text}backend b\n"


def test_a_file_is_named_by_its_path_and_by_that_of_its_directory() -> None:
    text = "frontend f\n  bind :443 ssl crt /x/certs/shop.pem crt /x/certs\n  bind :444 ssl crt 'certs/shop.pem'\nbackend b\n"
    references = references_to_file(Document.parse(text), "/x/certs/shop.pem", "/x")
    assert [each.how for each in references.spots] == ["file", "file"]
    assert rename_object(references, "new.pem").text == text.replace("shop.pem", "new.pem")
    alone = references_to_file(Document.parse("frontend f\n  bind :443 ssl crt /x/certs\n"), "/x/certs/shop.pem", "/x")
    assert [(each.how, each.span) for each in alone.spots] == [("its directory", None)]
