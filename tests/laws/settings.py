"""How long a law searches for a counterexample, in one of two profiles of hypothesis.

`fixed` takes the same few values in every run, so that a failure is the change's own. `search` takes others in every run, and 40 times as
many; its seed repeats it. `make soak` runs the laws with `search` and prints the seed.
"""

from typing import Any

from hypothesis import HealthCheck, settings

FIXED, SEARCH = "fixed", "search"
TIMES = {FIXED: 0.25, SEARCH: 10}
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
    """Return how many random cases the profile tries: a quarter of the number, ten times as many in `search`."""
    return max(1, round(number * TIMES[_profile()]))


def _profile() -> str:
    return SEARCH if settings.get_current_profile_name() == SEARCH else FIXED
