"""What the file of a split holds is what is read of it."""

from haproxy_native.storage import map_file, split_file
from haproxy_native.storage.split_file import Split

SPLIT = Split("cookie:who", {"v1": 95, "v2": 5.5}, 1_700_000_000.25, {"7@1700000000": {"v1": 3, "v2": 0}})


def test_written_and_read() -> None:
    buckets = ["v1"] * 95 + ["v2"] * 5
    text = split_file.written(SPLIT, buckets)
    assert split_file.read(text) == SPLIT and split_file.buckets(text) == buckets
    assert len(map_file.read(text)) == 100, "the first line is a comment for HAProxy"


def test_what_is_none_of_ours() -> None:
    for text in ("", "0 v1\n", "# split nothing\n", '# split {"by": "random"}\n', '# split ["by"]\n'):
        assert split_file.read(text) is None
    assert split_file.buckets("3 v1\nx v2\n")[:5] == ["", "", "", "v1", ""]
