# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_crt_list_file


class SslCrtListFiles(RootModel[list[ssl_crt_list_file.SslCrtListFile]]):
    root: list[ssl_crt_list_file.SslCrtListFile]
