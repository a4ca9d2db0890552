"""ACLs beyond the seeded files."""

from tests.native.features.lint.test_lint import found


def test_every_undefined_name_of_a_line_is_found() -> None:
    assert [each.what for each in found("frontend f\n  http-request deny if a b || !a\n", "acl-undefined")] == [
        "frontend f has no ACL 'a'",
        "frontend f has no ACL 'b'",
        "frontend f has no ACL 'a'",
    ]


def test_acls_of_defaults_are_none_of_the_proxy() -> None:
    text = "defaults d\n  acl a path /x\n  http-request deny if a\nfrontend f from d\n  http-request deny if a\n"
    assert [each.line for each in found(text, "acl-undefined")] == [5]


def test_lines_of_one_name_are_found_once() -> None:
    assert [each.line for each in found("frontend f\n  acl a path /x\n  acl a path /y\n", "acl-unused")] == [2]
