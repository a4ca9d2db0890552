"""Who takes a change of the process back; how, is in the tests of each kind."""

from pathlib import Path

import pytest

from haproxy_native.commit.change import Member
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Conflict
from haproxy_native.grammar.load import grammar
from haproxy_native.overrides.overrides import Overrides
from haproxy_native.process_objects.kinds import kinds, take_backs
from tests.native.engines import run, running_engine


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("")
        async with running_engine(tmp_path) as engine:
            overrides = Overrides(engine, Editor())
            read = kinds(engine.context, overrides, grammar())
            back = take_backs(engine.context, {}, overrides, read)
            assert back.keys() == {*(f"{word}/" for word in read), "map/", "acl/"}
            with pytest.raises(Conflict, match=r"no directory of maps any more that could hold hosts\.map"):
                await back["map/"]([Member("map/hosts.map/entry/a", "value", None, "b")], None)

    run(work())
