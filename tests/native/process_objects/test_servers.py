"""Servers that HAProxy cannot add again; what it can is in tests/app/handlers/sidecar/test_process_reverts.py."""

from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Conflict
from haproxy_native.grammar.load import grammar
from haproxy_native.overrides.overrides import Overrides
from haproxy_native.planning.servers import Servers
from haproxy_native.process_objects.servers import ProcessServers
from tests.native.engines import run, running_engine

OBJECT = "backend/app/server/s1"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({}, "how it was defined is not known"),
        ({"configured": {"name": "s1", "address": "$HOST"}, "words": []}, r"new server s1: .*; a reload brings it back"),
        ({"configured": {"name": "s1", "address": "127.0.0.1"}, "words": ["odd"]}, r"new server s1: .*; a reload brings it back"),
    ],
)
def test_what_is_not_known_or_not_taken(tmp_path: Path, made: dict[str, object], words: str) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("")
        async with running_engine(tmp_path) as engine:
            servers = ProcessServers(engine.context, Overrides(engine, Editor()), Servers(grammar()))
            with pytest.raises(Conflict, match=words):
                servers._adding("app", "s1", made)
            assert not servers.stays("operational_state") and servers.stays("weight") and servers.stays("use_ssl")

    run(work())
