# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crt_list


class SslCrtLists(RootModel[list[ssl_crt_list.SslCrtList]]):
    """All certificate lists, in order."""

    root: list[ssl_crt_list.SslCrtList]
