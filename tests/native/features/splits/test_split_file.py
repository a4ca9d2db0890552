"""What the file of a split holds is what is read of it."""

from haproxy_native.storage import list_files
from haproxy_native.storage.list_files import Split

SPLIT = Split("cookie:who", {"v1": 95, "v2": 5.5}, 1_700_000_000.25, {"7@1700000000": {"v1": 3, "v2": 0}})


def test_written_and_read() -> None:
    buckets = ["v1"] * 95 + ["v2"] * 5
    text = list_files.format_split(SPLIT, buckets)
    assert list_files.parse_split(text) == SPLIT and list_files.parse_buckets(text) == buckets
    assert len(list_files.parse_map(text)) == 100, "the first line is a comment for HAProxy"


def test_what_is_none_of_ours() -> None:
    for text in ("", "0 v1\n", "# split nothing\n", '# split {"by": "random"}\n', '# split ["by"]\n', f'# split {{"by": {"[" * 100_000}\n'):
        assert list_files.parse_split(text) is None
    assert list_files.parse_buckets("3 v1\nx v2\n")[:5] == ["", "", "", "v1", ""]
