"""Optional packages: how an operator installs one where this server runs."""

import importlib.util
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Optional:
    """`module` is what is imported, `packages` are the names on PyPI, `debian` is the Debian package, empty if there is none."""

    module: str
    packages: str
    debian: str = ""

    @property
    def is_missing(self) -> bool:
        return importlib.util.find_spec(self.module) is None

    @property
    def remedy(self) -> str:
        """Return the command that installs it: in the virtual environment if this is one, else by apt."""
        if sys.prefix == sys.base_prefix and self.debian:
            return f"apt-get install {self.debian}"
        where = f"{sys.prefix}/bin/" if sys.prefix != sys.base_prefix else ""
        return f"{where}pip install {self.packages}"


# By the extras of pyproject.toml.
EXTRAS = {
    "metrics": Optional("prometheus_client", "prometheus-client", "python3-prometheus-client"),
    "aws": Optional("botocore", "botocore", "python3-botocore"),
    "acme": Optional("dns", "dnspython", "python3-dnspython"),
    "oidc": Optional("jwt", "PyJWT", "python3-jwt"),
    "otlp": Optional("opentelemetry", "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"),
}
