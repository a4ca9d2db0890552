# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crt_list_entry


class SslCrtListEntries(RootModel[list[ssl_crt_list_entry.SslCrtListEntry]]):
    """The lines of one list, in order."""

    root: list[ssl_crt_list_entry.SslCrtListEntry]
