"""An OpenID Connect issuer on 127.0.0.1, with keys that the test chooses."""

import json
import threading
import time
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "dataplane"


@cache
def private(name: str) -> Any:
    """Return the private key with this name. The beginning of the name is its type: `rsa`, `ec` or `ed`."""
    if name.startswith("rsa"):
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1()) if name.startswith("ec") else ed25519.Ed25519PrivateKey.generate()


def public(name: str, **more: Any) -> dict[str, Any]:
    """Return the public key with this name as a JWK. The name is its `kid`."""
    kind = RSAAlgorithm if name.startswith("rsa") else ECAlgorithm if name.startswith("ec") else OKPAlgorithm
    key: dict[str, Any] = kind.to_jwk(private(name).public_key(), as_dict=True)
    return {name: value for name, value in key.items() if name != "key_ops"} | {"kid": name, "use": "sig"} | more


def signed(issuer: str, key: str = "ec1", algorithm: str = "ES256", *, header: Mapping[str, Any] = {}, **claims: Any) -> str:
    """Return a signed token. A claim that is None is left out."""
    whole = {"iss": issuer, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 60, "groups": ["ops"]} | claims
    body = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(body, private(key), algorithm, {"kid": key, **header})


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        issuer: Issuing = self.server.issuing  # type: ignore[attr-defined]
        issuer.asked.append(self.path)
        documents = {
            "/keys": {"keys": issuer.keys},
            "/.well-known/openid-configuration": {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"},
        }
        data = json.dumps(documents.get(self.path)).encode()
        self.send_response(200 if self.path in documents and not issuer.is_away else 503)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class Issuing:
    """Serves `keys`, which are JWKs. `asked` are the paths of all requests. With `is_away`, every answer is 503."""

    def __init__(self, *names: str) -> None:
        self.keys = [public(name) for name in names]
        self.asked: list[str] = []
        self.is_away = False

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.issuing = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
