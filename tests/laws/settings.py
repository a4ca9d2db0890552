"""How long a law searches for a counterexample, in one of two profiles of hypothesis.

`fixed` takes the same few values in every run, so that a failure is the change's own. `search` takes others in every run, and 100 times as
many; its seed repeats it. `make soak` runs the laws with `search` and prints the seed.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

FIXED, SEARCH = "fixed", "search"
TIMES = {FIXED: 0.1, SEARCH: 10}
V = TypeVar("V")
_SHARED: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


def register() -> None:
    """Makes the profiles known to pytest's `--hypothesis-profile`."""
    settings.register_profile(FIXED, derandomize=True, **_SHARED)
    settings.register_profile(SEARCH, derandomize=False, **_SHARED)
    # Also for properties that are no laws; `--hypothesis-profile` comes after it.
    settings.load_profile(FIXED)


def law(examples: int) -> Any:
    """Return the settings of the profile, with as many examples as `cases` returns."""
    return settings(settings.get_profile(_profile()), max_examples=cases(examples))


def cases(number: int) -> int:
    """Return how many random cases the profile tries: a tenth of the number, ten times as many in `search`."""
    return max(1, round(number * TIMES[_profile()]))


def part(samples: Sequence[V], name: str) -> Sequence[V]:
    """Return a third of what a law tries one after the other, another third for another name; all of it in `search`."""
    return samples if _profile() == SEARCH or len(samples) < 6 else samples[len(name) % 3 :: 3]


def _profile() -> str:
    return SEARCH if settings.get_current_profile_name() == SEARCH else FIXED
