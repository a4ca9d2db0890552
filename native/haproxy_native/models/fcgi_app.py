# Generated from openapi/ by `make generate`; do not edit.

from . import acls
from .fcgi_app_base import FcgiAppBase


class FcgiApp(FcgiAppBase):
    acl_list: acls.Acls | None = None
