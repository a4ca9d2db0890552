# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crl_entry


class SslCrlEntries(RootModel[list[ssl_crl_entry.SslCrlEntry]]):
    """The lists of one file, in order."""

    root: list[ssl_crl_entry.SslCrlEntry]
