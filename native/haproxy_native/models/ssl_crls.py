# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crl


class SslCrls(RootModel[list[ssl_crl.SslCrl]]):
    """All files of revoked certificates, in order."""

    root: list[ssl_crl.SslCrl]
