"""List the optional Python packages, and the commands that install them for this server."""

import importlib.util
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Optional:
    """An optional package."""

    # The Python module that it provides.
    module: str
    # Its names on PyPI, separated by spaces.
    packages: str
    # The name of its Debian package. Empty: Debian has none.
    debian: str = ""

    @property
    def is_missing(self) -> bool:
        return importlib.util.find_spec(self.module) is None

    @property
    def remedy(self) -> str:
        """The command that installs the package: pip in a virtual environment, else apt, else pip if Debian lacks the package."""
        if sys.prefix == sys.base_prefix and self.debian:
            return f"apt-get install {self.debian}"
        where = f"{sys.prefix}/bin/" if sys.prefix != sys.base_prefix else ""
        return f"{where}pip install {self.packages}"


# The optional packages by the extra in pyproject.toml that installs them.
EXTRAS = {
    "metrics": Optional("prometheus_client", "prometheus-client", "python3-prometheus-client"),
    "aws": Optional("botocore", "botocore", "python3-botocore"),
    "acme": Optional("dns", "dnspython", "python3-dnspython"),
    "oidc": Optional("jwt", "PyJWT", "python3-jwt"),
    "otlp": Optional("opentelemetry", "opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"),
}
