"""Paths and addresses beyond the seeded files."""

import pytest

from tests.native.features.lint.test_lint import found


@pytest.mark.parametrize(
    ("test", "other"),
    [
        ("path_beg /admin", "//admin, /%61dmin or /ADMIN is no /admin"),
        ("path_beg -i /admin", "//admin or /%61dmin is no /admin"),
        ("path_dir admin", "%61dmin or ADMIN is no admin"),
        ("path -m dir -i admin", "%61dmin is no admin"),
    ],
)
def test_other_spellings_are_named(test: str, other: str) -> None:
    (one,) = found(f"frontend f\n  http-request deny if {{ {test} }}\n", "path-passes-by")
    assert one.what == f"{other}, and servers may take it for that"


def test_normalized_paths_have_one_spelling() -> None:
    text = "frontend f\n  http-request normalize-uri path-merge-slashes\nbackend b\n  http-request deny if { path /x }\n"
    assert found(text, "path-passes-by") == []


def test_requests_that_are_never_retried() -> None:
    text = "backend b\n  mode http\n  retry-on all-retryable-errors\n"
    assert found(text, "retry-repeats-request") and not found(
        f"{text}  http-request disable-l7-retry if METH_POST\n", "retry-repeats-request"
    )
