"""What each real version says it can do."""

import asyncio

from haproxy_native.runtime.capabilities import Capabilities, server_keywords
from haproxy_native.runtime.client import Runtime
from tests.haproxy.process import HAProxy


def test_of_a_real_worker(haproxy: HAProxy) -> None:
    runtime = Runtime()
    assert asyncio.run(runtime.connect(None, [str(haproxy.stats)], 60, 0.05))
    can = runtime.capabilities
    assert can.version == haproxy.version
    assert can.can("set server") and can.can("add server") and can.can("del server")
    assert can.can("wait") == (can.version >= (3, 0))
    assert (can.server_keywords is not None) == (can.version >= (3, 2))
    assert can.takes_server_keyword("slowstart")
    assert can.takes_server_keyword("resolvers") == (can.version < (3, 2))


def test_a_socket_that_may_only_look(haproxy: HAProxy) -> None:
    haproxy.stop()
    haproxy.write(haproxy.file.read_text().replace("level admin", "level user"))
    haproxy.start()
    runtime = Runtime()
    assert asyncio.run(runtime.connect(None, [str(haproxy.stats)], 60, 0.05))
    assert runtime.capabilities.level == "user" and runtime.capabilities.version == haproxy.version
    assert not runtime.capabilities.can("set server") and not runtime.capabilities.can("add server")


def test_before_there_is_a_worker() -> None:
    assert not Capabilities().can("add server") and not Capabilities().can("set server")


def test_keywords() -> None:
    assert server_keywords("List of keywords supported for dynamic server:\nalpn\nweight\n") == {"alpn", "weight"}
    assert server_keywords("Require 'backend/server'.") is None
