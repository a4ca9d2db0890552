"""Optional Python packages, and the commands that install them for this server."""

import importlib.util
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Optional:
    """An optional package. `module` is its Python module, `packages` its names on PyPI, `debian` its Debian package or empty."""

    module: str
    packages: str
    debian: str = ""

    @property
    def is_missing(self) -> bool:
        return importlib.util.find_spec(self.module) is None

    @property
    def remedy(self) -> str:
        """The command that installs the package: pip in a virtual environment, otherwise apt if Debian has the package."""
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
