"""Close the databases that `processes.opened` has left open after a test."""

from collections.abc import Iterator

import pytest

from tests.native.transactions.processes import end


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    end()
