# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import effect


class ChangeEvent(Model):
    """A change of the configuration (config), of a certificate or a list of them (certificate) or of another stored file (storage)."""

    outcome: Literal['live', 'scheduled', 'reloaded', 'written', 'runtime', 'outside']
    """How it was made; outside by others than this server."""
    version: StrictInt | None = None
    """That of the configuration after it."""
    reload_id: StrictStr | None = None
    """The reload that it needs."""
    change: Literal['created', 'changed', 'deleted'] | None = None
    """What has become of a stored file."""
    author: StrictStr | None = None
    """Who has made it."""
    owner: StrictStr | None = None
    """Owner of a file that others have changed."""
    address: StrictStr | None = None
    """Address of the client."""
    request_id: StrictStr | None = None
    """Id of the request."""
    message: StrictStr | None = None
    """What the client said about it, in X-Change-Message."""
    objects: list[StrictStr] | None = None
    """Names of the objects that it touches, the first 1000."""
    effects: list[effect.Effect] | None = None
    """The members that it touches, the first 100, without secrets."""
    shortened: StrictBool | None = None
    """Whether there are more objects or effects."""
