# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import presetenv_item, setenv_item


class EnvironmentOptions(Model):
    """Environment variables (HAProxy Configuration Manual, section 3.1)."""

    presetenv: list[presetenv_item.PresetenvItem] | None = None
    """Variables set where they are not set yet."""
    resetenv: StrictStr | None = None
    """Names of the only variables kept."""
    setenv: list[setenv_item.SetenvItem] | None = None
    """Variables set."""
    unsetenv: StrictStr | None = None
    """Names of variables removed."""
