# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crt_list_file


class SslCrtListFiles(RootModel[list[ssl_crt_list_file.SslCrtListFile]]):
    """All stored certificate lists, in order."""

    root: list[ssl_crt_list_file.SslCrtListFile]
