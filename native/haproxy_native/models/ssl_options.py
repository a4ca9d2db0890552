# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import engine


class SslOptions(Model):
    acme_scheduler: Literal['auto', 'off'] | None = None
    ca_base: StrictStr | None = None
    crt_base: StrictStr | None = None
    default_bind_ciphers: StrictStr | None = None
    default_bind_ciphersuites: StrictStr | None = None
    default_bind_client_sigalgs: StrictStr | None = None
    default_bind_curves: StrictStr | None = None
    default_bind_options: StrictStr | None = None
    default_bind_sigalgs: StrictStr | None = None
    default_server_ciphers: StrictStr | None = None
    default_server_ciphersuites: StrictStr | None = None
    default_server_client_sigalgs: StrictStr | None = None
    default_server_curves: StrictStr | None = None
    default_server_options: StrictStr | None = None
    default_server_sigalgs: StrictStr | None = None
    dh_param_file: StrictStr | None = None
    engines: list[engine.Engine] | None = None
    issuers_chain_path: StrictStr | None = None
    key_base: StrictStr | None = None
    load_extra_del_ext: StrictBool | None = None
    load_extra_files: StrictStr | None = None
    maxsslconn: StrictInt | None = None
    maxsslrate: StrictInt | None = None
    mode_async: Literal['enabled', 'disabled'] | None = None
    passphrase_cmd: StrictStr | None = None
    propquery: StrictStr | None = None
    provider: StrictStr | None = None
    provider_path: StrictStr | None = None
    security_level: Annotated[StrictInt | None, Field(ge=0, le=5)] = None
    server_verify: Literal['none', 'required'] | None = None
    skip_self_issued_ca: StrictBool | None = None
