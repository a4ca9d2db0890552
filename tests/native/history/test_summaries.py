"""What the history says of a file that changed: counted, and never with what stands in it."""

import pytest

from haproxy_native.commit.change import Content
from haproxy_native.history.summaries import file_summaries, file_summary

SPOE = b"""\
# _version=3
[one]
spoe-agent a
  messages m
spoe-message m
  args ip=src
[two]
spoe-message m
  args ip=dst
"""
LONG = b"".join(b"k%d v\n" % number for number in range(9_000))
KEY = b"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("object_", "before", "after", "said"),
    [
        ("map/m.map", None, b"a b\n", "create map/m.map"),
        ("map/m.map", b"a b\n", None, "delete map/m.map"),
        ("map/m.map", b"a b\n", b"a b\n", ""),
        ("map/m.map", b"a b\nc d\n", b"e f\na b\ng h\n", "map/m.map: 2 entries added, 1 removed"),
        ("map/m.map", b"a b\nc d\n", b"a c\nc d\n", "map/m.map: 1 entry changed"),
        ("map/m.map", b"a b\nc d\n", b"a x\nc  d\ne f", "map/m.map: 1 entry added, 1 changed"),
        ("map/m.map", b"a b\nc d\n", b"# hi\nc d\na b\n", "map/m.map: order or comments changed"),
        ("map/m.map", LONG, LONG + b"new v\n", "map/m.map: 1 entry added"),
        ("map/m.map", LONG, LONG.replace(b"k77 v", b"k77 w").replace(b"k8000 v\n", b""), "map/m.map: 1 entry changed, 1 removed"),
        ("map/m.map", b"a b\n", b"", "map/m.map: 1 entry removed"),
        ("acl_file/a.acl", b"/x\n/y\n", b"/x\n/z\n/w\n", "acl_file/a.acl: 2 patterns added, 1 removed"),
        ("crt_list/l.list", b"a.pem\nb.pem x\n", b"a.pem [alpn h2]\nb.pem x\nc.pem\n", "crt_list/l.list: 1 entry added, 1 changed"),
        ("general/e.http", b"one\ntwo\n", b"one\n2\n3\n", "general/e.http: 2 lines added, 1 removed"),
        ("general/k.txt", b"one\n", KEY, "replace general/k.txt"),
        ("general/x.bin", b"one\n", b"\0\1", "replace general/x.bin"),
        ("certificate/c.pem", KEY, KEY * 2, "replace certificate/c.pem"),
        ("ca_file/c.pem", b"x", b"y", "replace ca_file/c.pem"),
        ("test/t.yaml", b"x", b"y", "replace test/t.yaml"),
        ("spoe/s.cfg", SPOE, SPOE.replace(b"ip=dst", b"ip=sni"), "spoe/s.cfg: message m of [two] changed"),
        ("spoe/s.cfg", SPOE, SPOE + b"spoe-group g\n  messages m\n", "spoe/s.cfg: group g of [two] added"),
        (
            "spoe/s.cfg",
            SPOE,
            SPOE[: SPOE.index(b"[two]")].replace(b"-agent a", b"-agent b"),
            "spoe/s.cfg: agent a of [one] removed, scope [two] removed, message m of [two] removed, 1 more",
        ),
        ("spoe/s.cfg", SPOE, SPOE.replace(b"=3", b"=4"), "spoe/s.cfg: comments changed"),
    ],
)
def test_what_is_said(object_: str, before: bytes | None, after: bytes | None, said: str) -> None:
    assert file_summary(Content(object_, "/x", before, after)) == said


def test_what_is_not_kept_and_what_is_no_file() -> None:
    assert file_summary(Content("map/m.map", "/x", None, None, is_kept=False)) == "change map/m.map"
    contents = [Content("", "/haproxy.cfg", b"a", b"b"), Content("map/m.map", "/m", None, b""), Content("map/n.map", "/n", b"", b"")]
    assert file_summaries(contents) == {"map/m.map": "create map/m.map"}
