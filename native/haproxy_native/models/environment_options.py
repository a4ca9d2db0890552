# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import presetenv_item, setenv_item


class EnvironmentOptions(Model):
    presetenv: list[presetenv_item.PresetenvItem] | None = None
    resetenv: StrictStr | None = None
    setenv: list[setenv_item.SetenvItem] | None = None
    unsetenv: StrictStr | None = None
