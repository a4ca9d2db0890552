# Generated from openapi/ by `make generate`; do not edit.

from . import acls
from .fcgi_app_base import FcgiAppBase


class FcgiApp(FcgiAppBase):
    """A fcgi-app section with its ACLs."""

    acl_list: acls.Acls | None = None
    """Named tests."""
