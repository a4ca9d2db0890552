"""A word in quotes may have blanks, and a name in quotes variables: what GET shows is accepted elsewhere."""

from pathlib import Path

import pytest

from dataplaneapi.api.validation import fits_as_word
from tests.app.client import CONFIG, CONFIGURATION, Client, settings

NAME, WORD = "^[A-Za-z0-9-_.:]+$", r"^[^\s]+$"
QUOTED = """
backend quoted from base
  cookie "S ID" insert
  option httpchk GET "/a b"
  server "s-${HOST}" 127.0.0.1:80 cookie 'x y' check
  server two 127.0.0.1:81 cookie x\\ y
"""


@pytest.mark.parametrize(
    ("value", "pattern", "fits"),
    [
        ('"S ID"', WORD, True),
        ("'x y'", WORD, True),
        ("x\\ y", WORD, True),
        ('a"b c"d', WORD, True),
        ("x y", WORD, False),
        ('"x y', WORD, False),
        ('"x" y', WORD, False),
        ('"be-$HOST"', NAME, True),
        ('"be-${HOST-a}"', NAME, True),
        ("be-$HOST", NAME, False),
        ("'be-$HOST'", NAME, False),
        ('"be"', NAME, False),
        ('"be $HOST"', NAME, False),
        (5, NAME, False),
    ],
)
def test_words(value: object, pattern: str, fits: bool) -> None:
    assert fits_as_word(value, pattern) == fits


def test_what_is_shown_is_accepted_elsewhere(tmp_path: Path) -> None:
    with Client(settings(tmp_path), CONFIGURATION + QUOTED) as client:
        path = f"{CONFIG}/backends"
        shown = client.get(f"{path}/quoted?full_section=true").json
        made = client.post(f"{path}?version=1&full_section=true", {**shown, "name": "other"})
        assert made.status == 202, made.body
        assert client.get(f"{path}/other?full_section=true").json == {**shown, "name": "other"}
        text = client.file.read_text()
        own, other = (text.partition(f"backend {name} from base\n")[2].partition("\nbackend")[0] for name in ("quoted", "other"))
        assert sorted(own.split()) == sorted(other.split())
        for number, server in enumerate(client.get(f"{path}/quoted/servers").json, 2):
            assert client.post(f"{path}/app/servers?version={number}", server).status == 202


def test_a_variable_may_contain_the_port(tmp_path: Path) -> None:
    with Client(settings(tmp_path), CONFIGURATION + '\npeers mesh\n  peer one "${ADDRESS}:1024"\n') as client:
        path, of = f"{CONFIG}/peer_entries", "peer_section=mesh"
        shown = client.get(f"{path}/one?{of}").json
        assert shown == {"name": "one", "address": '"${ADDRESS}:1024"'}
        assert client.post(f"{path}?{of}&version=1", {**shown, "name": "two"}).status == 202
        edited = client.put(f"{path}/one?{of}&version=2", {**shown, "shard": 2})
        assert edited.status == 202 and 'peer one "${ADDRESS}:1024" shard' in client.file.read_text(), edited.body
        assert client.get(f"{path}/two?{of}").json == {**shown, "name": "two"}
        assert 'peer two "${ADDRESS}:1024"\n' in client.file.read_text()
        assert client.post(f"{path}?{of}&version=3", {"name": "three", "address": "127.0.0.1"}).status == 422


def test_the_local_server_of_peers_has_no_address(tmp_path: Path) -> None:
    text = "\npeers mesh\n  bind 127.0.0.1:1024\n  server here\n  server there 127.0.0.1:1025\n"
    with Client(settings(tmp_path), CONFIGURATION + text) as client:
        path = f"{CONFIG}/peer_section"
        shown = client.get(f"{path}/mesh?full_section=true").json
        assert shown["servers"]["here"] == {"name": "here"}
        assert client.post(f"{path}?version=1&full_section=true", {**shown, "name": "other"}).status in (201, 202)
        assert client.get(f"{path}/other?full_section=true").json == {**shown, "name": "other"}
        assert client.delete(f"{CONFIG}/peers/mesh/servers/here?version=2").status in (202, 204)
        assert client.post(f"{CONFIG}/peers/mesh/servers?version=3", {"name": "here"}).status in (201, 202)
        assert "  server here\n" in client.file.read_text()
        assert client.post(f"{CONFIG}/backends/app/servers?version=4", {"name": "here"}).status == 422
