# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_ca_file


class SslCaFiles(RootModel[list[ssl_ca_file.SslCaFile]]):
    """All files of authorities, in order."""

    root: list[ssl_ca_file.SslCaFile]
