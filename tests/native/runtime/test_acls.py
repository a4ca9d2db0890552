"""What `show acl` says, line by line."""

import pytest

from haproxy_native.runtime.lists import LoadedAcl, parse_acls, parse_patterns

LISTED = """\
# id (file) description
0 (/etc/a (b).acl) pattern loaded from file '/etc/a (b).acl' used by acl at file '/h.cfg' line 11. curr_ver=0 next_ver=0 entry_cnt=2
12 () acl 'req.hdr' file '/h.cfg' line 12. curr_ver=0 next_ver=0 entry_cnt=2
13 () something new
"""


def test_a_list() -> None:
    first, second, third = parse_acls(LISTED)
    assert (first.id, first.name, first.description[:19]) == ("0", "/etc/a (b).acl", "pattern loaded from")
    assert (second.id, second.name) == ("12", "req.hdr")
    assert third == LoadedAcl("13", "", "something new")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("0x1f a b ", [("0x1f", "a b ")]),
        ("0x1 a\x85b\r\n0x2 \u2028", [("0x1", "a\x85b\r"), ("0x2", "\u2028")]),
        ("0x1 ", [("0x1", "")]),
    ],
)
def test_patterns(text: str, found: list[tuple[str, str]]) -> None:
    assert list(parse_patterns(text)) == found
