"""Zeros and `false` of a body, which mean an absent member unless they stand in the file."""

from typing import Any

import pytest

from dataplaneapi.api.validation import has_zero, with_sent_zeros

RULES = [{"type": "allow"}, {"type": "deny", "nice": 0}]


@pytest.mark.parametrize(
    ("body", "sent", "now", "kept"),
    [
        ({"a": 1}, {"a": 1, "nice": 0}, {"a": 1, "nice": 0}, {"a": 1, "nice": 0}),
        ({"a": 1}, {"a": 1, "nice": 0}, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": 1, "nice": 0}, {"a": 1, "nice": 5}, {"a": 1}),
        ({"a": 1}, {"a": 1, "nice": 0}, {"a": 1, "nice": False}, {"a": 1}),
        ({"a": 1}, {"a": 1, "on": False, "text": ""}, {"a": 1, "on": False, "text": ""}, {"a": 1, "on": False, "text": ""}),
        ({"a": 1}, {"a": 1, "on": False, "text": ""}, {"a": 1}, {"a": 1}),
        ({"in": {}}, {"in": {"nice": 0}}, {"in": {"nice": 0}}, {"in": {"nice": 0}}),
        ([{"type": "deny"}], [RULES[1]], RULES, [RULES[1]]),
        ([{"type": "new"}, {"type": "deny"}], [{"type": "new"}, RULES[1]], [RULES[1]], [{"type": "new"}, RULES[1]]),
        ([{"type": "new"}], [{"type": "new", "nice": 0}], [RULES[1]], [{"type": "new", "nice": 0}]),
        ([{"type": "new"}], [{"type": "new", "nice": 0}], [], [{"type": "new"}]),
    ],
)
def test_what_stands_and_is_sent_back_stays(body: Any, sent: Any, now: Any, kept: Any) -> None:
    assert with_sent_zeros(body, sent, now) == kept


def test_a_zero_is_found_wherever_it_is() -> None:
    assert has_zero({"a": [{"b": 0}]})
    assert has_zero([False])
    assert has_zero({"a": ""})
    assert not has_zero({"a": [1, None, {}, True]})
