"""Create the agent for ACME certificates from the settings and environment variables."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from haproxy_native.acme.agent import Acme
from haproxy_native.acme.dns_challenge import ChallengeTimes, Solver
from haproxy_native.acme.keeper import Keeper
from haproxy_native.acme.zones import Zones
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing
from haproxy_native.storage.certificate_store import CertificateStore

_IN_STORE = re.compile(r"@([^/]*)/")


def acme(engine: Engine, editor: Editor, programs: Sequence[str]) -> Acme:
    runtime, store = engine.runtime, engine.stores["ssl_certificates"]
    assert isinstance(store, CertificateStore)
    keeper = Keeper(engine.context, store, lambda name: base(engine, editor, name))
    return Acme(runtime, keeper, Solver(runtime, ChallengeTimes.from_environment(os.environ), Zones(), programs))


def base(engine: Engine, editor: Editor, certificate: str) -> Path | None:
    """Return the directory to which the name of a certificate in a crt-store is relative.

    This is the `crt-base` of the crt-store or, if it has none, the `crt-base` of the section global. Return None if the certificate is in
    no crt-store, or if neither section has a `crt-base`, because only HAProxy can then resolve the name.
    """
    match = _IN_STORE.match(certificate)
    if not match:
        return None
    # The configuration that HAProxy has loaded takes precedence over a later edit of `crt-base`.
    document = engine.context.running.document or engine.document
    for resource, name, path in (("crt_stores", match[1], ("crt_base",)), ("global", "", ("ssl_options", "crt_base"))):
        try:
            value = editor.get_object(document, editor.resources[resource], None, name)
        except Missing:
            continue
        for member in path:
            value = value.get(member) or {}
        if value:
            return Path(str(value))
    return None
