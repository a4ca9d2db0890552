"""Listeners beyond the seeded files."""

from tests.native.features.lint.test_lint import found


def test_the_other_section_is_named() -> None:
    (one,) = found("frontend f\n  bind :80,:81\nlisten l\n  bind :81\n", "address-in-two-places")
    assert one.others == ("frontend/f",) and one.object == "listen/l"


def test_a_mode_that_would_be_right() -> None:
    (one,) = found("global\n  stats socket /x mode 0666 level admin # x\n", "stats-socket-open")
    assert one.new_line == "stats socket /x mode 660 level admin # x"
