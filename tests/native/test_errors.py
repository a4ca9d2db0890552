"""Check that the docstring shows the real tree of error classes, and that texts begin with the label of the class."""

import re

import pytest

from haproxy_native import errors
from haproxy_native.errors import NativeError, NotCommittable, Place, Refused, ReloadFailed, RuntimeRefused

DRAWN = re.compile(r"^[│ ]*[├└]── (\w+)", re.MULTILINE)


def below(kind: type[NativeError]) -> set[type[NativeError]]:
    return {one for child in kind.__subclasses__() if child.__module__ == errors.__name__ for one in (child, *below(child))}


def test_the_docstring_draws_all_of_them() -> None:
    assert sorted(DRAWN.findall(errors.__doc__ or "")) == sorted(kind.__name__ for kind in below(NativeError))


def test_the_drawing_tells_who_stands_below_whom() -> None:
    parents: list[str] = ["NativeError"]
    for line in (errors.__doc__ or "").splitlines():
        if drawn := re.match(r"([│ ]*)[├└]── (\w+)", line):
            depth = len(drawn[1]) // 4
            parents[depth + 1 :] = [drawn[2]]
            assert getattr(errors, drawn[2]).__bases__[0].__name__ == parents[depth]


@pytest.mark.parametrize("kind", sorted(below(NativeError), key=lambda kind: kind.__name__))
def test_each_says_what_it_is_for(kind: type[NativeError]) -> None:
    arguments = {"CheckImpossible": {"reason": "missing"}}.get(kind.__name__, {})
    error = kind("this", "that") if issubclass(kind, RuntimeRefused) else kind("this", **arguments)
    assert str(error) == ": ".join(part for part in (kind.label, error.detail) if part)
    assert "this" in error.detail
    assert isinstance(error, NativeError)


def test_what_they_carry() -> None:
    place = Place(section="backend b", member="from")
    assert Refused("no", place=place, alerts=["one"]).alerts == ("one",)
    assert Refused("no", place=place).place is place
    assert (Refused("no\nbecause").summary, repr(Refused("no\nbecause"))) == ("no", "Refused('no')")
    assert ReloadFailed("Reload failed: x\ny", alert="why").summary == "Reload failed: why"
    assert str(NotCommittable("transaction x is failed")) == "transaction x is failed"
    assert (RuntimeRefused("No such server.", "set x").answer, str(RuntimeRefused("No such server.", "set x"))) == (
        "No such server.",
        "No such server. [set x]",
    )
