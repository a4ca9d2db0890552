"""Lay out JSON: it is the same JSON in the same order, on lines of limited length."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openapi import layout

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=60)


# How long an example takes says more about the machine than about the layout.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@UNHURRIED
@given(JSON)
def test_it_reads_back_in_the_same_order(value: object):
    text = layout.text(value)
    assert text.endswith("\n")
    assert json.dumps(json.loads(text)) == json.dumps(value)


@UNHURRIED
@given(st.lists(st.dictionaries(st.text(alphabet="abc", max_size=9), st.integers(0, 999)), max_size=40))
def test_lines_end_where_they_can(value: list):
    assert all(len(line) <= layout.WIDTH + 1 for line in layout.text(value).splitlines())


def test_small_things_stay_on_one_line():
    assert layout.text({"a": [1, {"b": None}]}) == '{"a":[1,{"b":null}]}\n'
