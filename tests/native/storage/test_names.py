"""What becomes of names; the results are those of the API that this server is compatible with."""

import pytest

from haproxy_native.storage.store import is_file_name, sanitized_name, uploaded_name


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("my.site.pem", "my_site.pem"),
        (".pem", "_pem"),
        ("_.pem", "_.pem"),
        ("../../etc/passwd", "_etc_passwd"),
        ("../../haproxy.cfg", "_haproxy.cfg"),
        ("a b.txt", "a_b.txt"),
        ("x@y!.crt", "x_y_.crt"),
        ("*.example.com.pem", "_example_com.pem"),
        ("file.", "file."),
        (".hidden", "_hidden"),
        ("ünicode.txt", "_nicode.txt"),
        ("back\\slash.txt", "back_slash.txt"),
        ("a//b/../c", "a_c"),
        ("line\nbreak", "line_break"),
        ("", ""),
    ],
)
def test_sanitised(name: str, stored: str) -> None:
    assert sanitized_name(name) == stored
    assert "/" not in stored


def test_of_an_upload_the_last_element_counts() -> None:
    assert uploaded_name("../../escape.txt") == "escape.txt"
    assert uploaded_name("a/") == ""


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "nul\0", "a\\b", "line\n", "\x9b"])
def test_what_cannot_be_a_file_in_a_directory(name: str) -> None:
    assert not is_file_name(name)
