"""Answers of an engine beside a running HAProxy."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Refused
from haproxy_native.features.explain.explain import Explain
from haproxy_native.features.explain.explanation import CandidateServer
from haproxy_native.features.explain.question import Question
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import running_engine

TEXT = """\
global
    stats socket {{stats}} mode 600 level admin

defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind 127.0.0.1:{port}
    use_backend %[path,map({map},shop)]

backend shop from base
    server one 127.0.0.1:9 weight 10
    server two 127.0.0.1:9 backup
    server three 127.0.0.1:9 disabled

backend other from base
"""


def asking(directory: Path, binary: str, work: Callable[[Engine, Explain], Awaitable[None]]) -> None:
    async def run(haproxy: HAProxy) -> None:
        async with running_engine(directory, haproxy) as engine, Explain(engine, Editor()) as explain:
            await work(engine, explain)

    (directory / "paths.map").write_text("/other other\n")
    haproxy = HAProxy(directory, TEXT.format(port=free_port(), map=directory / "paths.map"), binary=binary).start()
    try:
        asyncio.run(run(haproxy))
    finally:
        haproxy.stop()


def test_servers_with_their_states(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(engine: Engine, explain: Explain) -> None:
        await engine.context.runtime.send("set server shop/one state drain")
        (found,) = await explain.answers(engine.candidate(author=NOBODY), [Question("http://a/")])
        assert found.servers == [
            CandidateServer("one", 10, None, "drain"),
            CandidateServer("two", 1, True, "up"),
            CandidateServer("three", 1, None, "maint"),
        ]
        assert (found.backend, found.server, found.status) == ("shop", "two", 200)

    asking(tmp_path, haproxy_binary, work)


def test_a_file_that_changes_counts_at_once(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(engine: Engine, explain: Explain) -> None:
        questions = [Question("http://a/other"), Question("http://a/new")]
        assert [each.backend for each in await explain.answers(engine.candidate(author=NOBODY), questions)] == ["other", "shop"]
        (tmp_path / "new").write_text("/other shop\n/new other\n")
        os.replace(tmp_path / "new", tmp_path / "paths.map")
        assert [each.backend for each in await explain.answers(engine.candidate(author=NOBODY), questions)] == ["shop", "other"]

    asking(tmp_path, haproxy_binary, work)


def test_what_a_question_leaves_behind_is_not_there_for_the_next(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(engine: Engine, explain: Explain) -> None:
        rule = f"    http-request set-map({tmp_path / 'paths.map'}) %[path] other if {{ path /new }}\n"
        text = engine.document.text.replace("    use_backend", f"{rule}    use_backend")
        questions = [Question(f"http://a{path}") for path in ("/new", "/new", "/x")]
        found = await explain.answers(engine.candidate(text.encode(), author=NOBODY), questions)
        assert [(each.backend, len(each.rules)) for each in found] == [("other", 2), ("other", 2), ("shop", 1)]

    asking(tmp_path, haproxy_binary, work)


def test_a_text_that_haproxy_refuses(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(engine: Engine, explain: Explain) -> None:
        with pytest.raises(Refused, match="nonsense"):
            await explain.answers(engine.candidate(b"frontend a\n    bind :80\n    nonsense\n", author=NOBODY), [Question("http://a/")])
        for wrong in ("global\n    bogus 1\n", "rubbish\n", "backend b\n    server s 10.0.0.1:80 chekc\n"):
            text = f"{wrong}frontend a\n    bind :80\n".encode()
            with pytest.raises(Refused, match="bogus|rubbish|chekc"):
                await explain.answers(engine.candidate(text, author=NOBODY), [Question("http://a/")])
        with pytest.raises(BadRequest, match="no listener accepts this request"):
            await explain.answers(engine.candidate(author=NOBODY), [Question("http://a/", frontend="none")])

    asking(tmp_path, haproxy_binary, work)


def test_the_running_haproxy_is_not_asked_for_requests(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(engine: Engine, explain: Explain) -> None:
        await explain.answers(engine.candidate(author=NOBODY), [Question("http://a/")] * 3)
        shown = await engine.context.runtime.send("show stat site 1 -1")
        columns = dict(zip(shown.splitlines()[0].lstrip("# ").split(","), shown.splitlines()[1].split(","), strict=True))
        assert columns["stot"] == "0"

    asking(tmp_path, haproxy_binary, work)
