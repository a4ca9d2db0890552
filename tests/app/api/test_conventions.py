"""Times and pages."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest

from dataplaneapi.api.conventions import page, timestamp
from dataplaneapi.api.parameter_values import QueryValues

ROWS = [{"id": str(number)} for number in range(12, 0, -1)]


def shown(**values: Any) -> tuple[list[str], str]:
    sent = {name: [str(value)] for name, value in {**values, "status": "a b"}.items()}
    call: Any = SimpleNamespace(query=QueryValues(values), sent_query=sent)
    answer = page(call, ROWS)
    return [row["id"] for row in answer.value], dict(answer.raw_headers).get(b"Link", b"").decode()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1970-01-01T00:00:00.000Z"), (1795000000.5, "2026-11-18T11:06:40.500Z"), (1.9999, "1970-01-01T00:00:01.999Z")]
)
def test_times(seconds: float, text: str) -> None:
    assert timestamp(seconds) == text


def test_a_whole_list() -> None:
    assert shown() == ([row["id"] for row in ROWS], "")
    assert shown(limit=12) == shown()


def test_pages_lead_to_one_another() -> None:
    ids, query = [], {"limit": 5}
    for _ in range(3):
        found, link = shown(**query)
        ids += found
        if link:
            assert link.startswith("<?") and link.endswith('>; rel="next"')
            parameters = parse_qs(link[2:].partition(">")[0])
            assert parameters["status"] == ["a b"]
            query = {"limit": int(parameters["limit"][0]), "before": parameters["before"][0]}
    assert (ids, link) == ([row["id"] for row in ROWS], "")
