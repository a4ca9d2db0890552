"""A HAProxy with maps, shared by the tests of a file."""

from collections.abc import Iterator

import pytest

from tests.native.storage.live import Beside, beside


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str) -> Iterator[Beside]:
    with beside(tmp_path_factory.mktemp("maps"), haproxy_binary) as running:
        yield running
