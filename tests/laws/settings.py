"""How long a law searches for a counterexample; the same values in every run, so that a failure is the change's own."""

from typing import Any

from hypothesis import HealthCheck, settings


def law(examples: int) -> Any:
    """To search further, raise the number and set `derandomize` to False for one run."""
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
