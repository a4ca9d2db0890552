"""Echoed bodies show what stands in the file."""

import pytest

from haproxy_native.editing.response_body import as_it_stands, with_defaults, without_aliases

ROWS = [
    ({"name": "a"}, {"name": "a", "from": "d"}, {"name": "a"}),
    ({"text": "two words"}, {"text": '"two words"'}, {"text": '"two words"'}),
    ({"text": 'say "hi" now'}, {"text": '"say \\"hi\\" now"'}, {"text": '"say \\"hi\\" now"'}),
    ({"text": "one"}, {"text": "other"}, {"text": "one"}),
    ({"rows": [{"fmt": "a b"}]}, {"rows": [{"fmt": '"a b"'}]}, {"rows": [{"fmt": '"a b"'}]}),
    ({"rows": ["a b"]}, {"rows": []}, {"rows": ["a b"]}),
    ([{"text": "a#b"}], [{"text": '"a#b"'}], [{"text": '"a#b"'}]),
    ({"text": '"a b" # c'}, {"text": '"a b" "#" c'}, {"text": '"a b" "#" c'}),
    ({"rows": {"a#": {"name": "a#"}}}, {"rows": {'"a#"': {"name": '"a#"'}}}, {"rows": {"a#": {"name": '"a#"'}}}),
    ({"number": 7}, {"number": 8}, {"number": 7}),
]


@pytest.mark.parametrize(("body", "stored", "shown"), ROWS)
def test_only_quoting_is_taken_over(body: object, stored: object, shown: object) -> None:
    assert as_it_stands(body, stored) == shown


@pytest.mark.parametrize(
    ("body", "stored", "shown"),
    [
        ({"name": "a"}, {"name": "a", "max": 1}, {"name": "a", "max": 1}),
        ({"name": "a"}, {"name": "a"}, {"name": "a"}),
        ({"name": "a"}, {"name": "a", "max": 7}, {"name": "a"}),
        ({"max": 2}, {"max": 2}, {"max": 2}),
        ([], {"max": 1}, []),
    ],
)
def test_a_default_that_was_written_is_shown(body: object, stored: object, shown: object) -> None:
    assert with_defaults(body, stored, {"max": 1}) == shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"name": "a", "first": 1}, {"list": [1, 2], "name": "a"}),
        ({"name": "a", "first": 1, "list": [1, 2]}, {"list": [1, 2], "name": "a"}),
        ({"name": "a", "list": [1, 2]}, {"name": "a", "list": [1, 2]}),
        ([], []),
    ],
)
def test_a_deprecated_member_is_shown_as_its_list(body: object, shown: object) -> None:
    assert without_aliases(body, {"name": "a", "first": 1, "list": [1, 2]}, {"first": "list"}) == shown
