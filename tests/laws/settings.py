"""Define two profiles of hypothesis, which determine how long a law searches for a counterexample.

`fixed` tries the same few values in every run, so that only a change of the code can cause a failure. `search` tries 100 times as many
values, which differ in every run unless the seed is given. `make soak` runs the laws with `search`, and prints the seed.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

FIXED, SEARCH = "fixed", "search"
TIMES = {FIXED: 0.1, SEARCH: 10}
V = TypeVar("V")
_SHARED: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


def register() -> None:
    """Register the profiles for `--hypothesis-profile` of pytest."""
    settings.register_profile(FIXED, derandomize=True, **_SHARED)
    settings.register_profile(SEARCH, derandomize=False, **_SHARED)
    # The default of all properties. `--hypothesis-profile` is applied later.
    settings.load_profile(FIXED)


def law(examples: int) -> Any:
    """Return the settings of the profile, with the number of examples from `cases`."""
    return settings(settings.get_profile(_profile()), max_examples=cases(examples))


def cases(number: int) -> int:
    """Return how many random cases the profile tries: a tenth of `number`, or ten times `number` in `search`."""
    return max(1, round(number * TIMES[_profile()]))


def part(samples: Sequence[V], name: str) -> Sequence[V]:
    """Return a third of the samples, which depends on `name`. In `search`, return all samples."""
    return samples if _profile() == SEARCH or len(samples) < 6 else samples[len(name) % 3 :: 3]


def _profile() -> str:
    return SEARCH if settings.get_current_profile_name() == SEARCH else FIXED
