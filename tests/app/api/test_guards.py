"""Guards that a write asks for; those that cannot be are in test_write_options.py."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.guards import guard_of
from dataplaneapi.settings.table import Settings
from haproxy_native.confirmations.guard import Guard


def asked(**values: Any) -> Any:
    settings = replace(Settings(), guards=[{"name": "careful", "errors": 1, "for": "30s"}])
    services = SimpleNamespace(settings=settings)
    return SimpleNamespace(values=values, services=services, get=lambda name, default=None: values.get(name, default))


def test_json_and_names() -> None:
    assert guard_of(asked(confirm=60.0)) is None
    assert guard_of(asked(confirm=60.0, guard='{"errors":2}')) == Guard(2)
    assert guard_of(asked(confirm=60.0, guard="careful", auto_confirm=True)) == Guard(1, seconds=30.0, auto_confirm=True)
    with pytest.raises(ApiError, match="known are careful"):
        guard_of(asked(confirm=60.0, guard="bold"))
