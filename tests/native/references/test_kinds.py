"""What is declared of kinds of objects."""

import pytest

from haproxy_native.editing.object_names import kind_of
from haproxy_native.editing.resources import resources
from haproxy_native.references.kinds import kinds, lookups, tables
from haproxy_native.references.lines import kinds_of, section_kinds


def test_every_kind_is_one_of_the_api() -> None:
    known = {kind_of(each) for each in resources().by_name.values()}
    assert {part for name in kinds() for part in name.split("/")} <= known


def test_every_section_with_a_name_is_a_kind() -> None:
    assert set(section_kinds()) - set(kinds()) == {"global", "traces"}


@pytest.mark.parametrize("name", [name for name in kinds() if "/" in name])
def test_what_stands_in_a_section_has_lines_that_make_it(name: str) -> None:
    assert kinds()[name].defined


def test_a_listen_is_named_as_both_that_it_is() -> None:
    assert [each.name for each in kinds_of(kinds()["listen"])] == ["listen", "frontend", "backend"]
    assert "backend" in tables().sections and lookups().maps
