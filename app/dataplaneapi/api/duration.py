"""Durations in parameters: `120s`, `5m`, `500ms`; a bare number is seconds."""

from dataplaneapi.api.errors import ApiError
from dataplaneapi.settings.quantities import duration


def seconds(name: str, text: str) -> float:
    """Raises ApiError 400, which names the parameter."""
    try:
        return float(text) if text.isascii() and text.isdigit() else duration(text)
    except ValueError as error:
        raise ApiError(400, f"{name}: {error}") from None
