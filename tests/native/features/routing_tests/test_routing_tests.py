"""Runs of what is kept, of the configuration and of others."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Refused
from haproxy_native.features.explain.explain import Explain
from haproxy_native.features.routing_tests.routing_tests import RoutingTests
from haproxy_native.features.routing_tests.run import cases_of
from haproxy_native.features.routing_tests.table import TestTable
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
    http-request return status 204 if {{ path /a }}
"""
ROWS = [{"request": {"url": "http://a/a", "frontend": "site"}, "expect": {"status": 204}}]


def test_two_runs_at_once_and_one_of_a_text_that_haproxy_refuses(tmp_path: Path, haproxy_binary: str) -> None:
    async def run(haproxy: HAProxy) -> None:
        async with running_engine(tmp_path, haproxy) as engine, Explain(engine, Editor()) as explain:
            tests = RoutingTests(TestTable(engine.context, engine.database), explain)
            runs = await asyncio.gather(*(tests.run(engine.candidate(author=NOBODY), cases_of(ROWS * 20)) for _ in range(2)))
            assert [len(each.failed) for each in runs] == [0, 0]
            with pytest.raises(Refused, match="nonsense"):
                await tests.run(engine.candidate(b"frontend a\n    bind :80\n    nonsense\n", author=NOBODY), cases_of(ROWS))

    haproxy = HAProxy(tmp_path, TEXT.format(port=free_port()), binary=haproxy_binary).start()
    try:
        asyncio.run(run(haproxy))
    finally:
        haproxy.stop()
