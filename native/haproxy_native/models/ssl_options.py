# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import engine


class SslOptions(Model):
    """TLS for the whole process (HAProxy Configuration Manual, section 3.1)."""

    acme_scheduler: Literal['auto', 'off'] | None = None
    """Whether certificates are ordered and renewed by themselves."""
    ca_base: StrictStr | None = None
    """Directory of authorities and revocation lists."""
    crt_base: StrictStr | None = None
    """Directory of certificates."""
    default_bind_ciphers: StrictStr | None = None
    """Ciphers up to TLS 1.2 of bind lines that do not say it."""
    default_bind_ciphersuites: StrictStr | None = None
    """Cipher suites of TLS 1.3 of bind lines that do not say it."""
    default_bind_client_sigalgs: StrictStr | None = None
    """Signature algorithms allowed to client certificates of bind lines that do not say it."""
    default_bind_curves: StrictStr | None = None
    """Elliptic curves of bind lines that do not say it."""
    default_bind_options: StrictStr | None = None
    """Options of bind lines that do not say it."""
    default_bind_sigalgs: StrictStr | None = None
    """Signature algorithms of bind lines that do not say it."""
    default_server_ciphers: StrictStr | None = None
    """Ciphers up to TLS 1.2 of servers that do not say it."""
    default_server_ciphersuites: StrictStr | None = None
    """Cipher suites of TLS 1.3 of servers that do not say it."""
    default_server_client_sigalgs: StrictStr | None = None
    """Signature algorithms allowed to client certificates of servers that do not say it."""
    default_server_curves: StrictStr | None = None
    """Elliptic curves of servers that do not say it."""
    default_server_options: StrictStr | None = None
    """Options of servers that do not say it."""
    default_server_sigalgs: StrictStr | None = None
    """Signature algorithms of servers that do not say it."""
    dh_param_file: StrictStr | None = None
    """File with Diffie-Hellman parameters."""
    engines: list[engine.Engine] | None = None
    """OpenSSL engines."""
    issuers_chain_path: StrictStr | None = None
    """Directory of the chains of issuers."""
    key_base: StrictStr | None = None
    """Directory of keys."""
    load_extra_del_ext: StrictBool | None = None
    """Whether those files are called as the certificate without its extension."""
    load_extra_files: StrictStr | None = None
    """Files looked for beside certificates."""
    maxsslconn: StrictInt | None = None
    """TLS connections at a time."""
    maxsslrate: StrictInt | None = None
    """TLS sessions a second."""
    mode_async: Literal['enabled', 'disabled'] | None = None
    """Whether TLS works asynchronously with engines."""
    passphrase_cmd: StrictStr | None = None
    """Program, and its arguments, that tells the passphrases of keys."""
    propquery: StrictStr | None = None
    """Properties asked of providers."""
    provider: StrictStr | None = None
    """OpenSSL provider that is loaded."""
    provider_path: StrictStr | None = None
    """Directory of OpenSSL providers."""
    security_level: Annotated[StrictInt | None, Field(ge=0, le=5)] = None
    """Security level of OpenSSL."""
    server_verify: Literal['none', 'required'] | None = None
    """Whether certificates of servers are verified where a line does not say it."""
    skip_self_issued_ca: StrictBool | None = None
    """Whether self-issued authorities are left out of chains."""
