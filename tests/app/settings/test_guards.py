import pytest

from dataplaneapi.settings.guards import read_guard
from dataplaneapi.settings.table import SettingsError, combine
from haproxy_native.confirmations.guard import Guard


def test_a_guard() -> None:
    assert read_guard({"errors": 1.5, "for": "2m"}) == Guard(1.5, False, 50, 120.0)
    assert read_guard({"ready": True, "min_requests": 5, "for": 30}) == Guard(None, True, 5, 30.0)


def test_in_the_settings() -> None:
    data = {"dataplaneapi": {"guards": [{"name": "careful", "errors": 2}]}}
    assert combine({}, {}, data).guards == [{"name": "careful", "errors": 2}]
    with pytest.raises(SettingsError, match="dataplaneapi.guards: careful: a guard watches errors, ready or both"):
        combine({}, {}, {"dataplaneapi": {"guards": [{"name": "careful"}]}})
