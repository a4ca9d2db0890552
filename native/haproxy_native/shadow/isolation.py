"""How a shadow is kept off the network: in a namespace without one, where this process may make one.

(unshare(1), network_namespaces(7), user_namespaces(7))
"""

import re
import subprocess
from functools import cache

from haproxy_native.errors import NoShadow
from haproxy_native.shadow.words import words

_WAYS = (("unshare", "--net"), ("unshare", "--user", "--map-current-user", "--net"))
_SECONDS = 5.0
_WHY = "this server may make no namespaces (user_namespaces(7); RestrictNamespaces=), and dataplaneapi-shadow.socket does not run"


@cache
def without_network() -> tuple[str, ...] | None:
    """What stands before a command that is started without a network; None where that cannot be had. Blocks for milliseconds."""
    return next((way for way in _WAYS if _works(way)), None)


def refuse_to_reach_out(text: str) -> None:
    """Raises NoShadow for what may open connections by itself, where there is a network."""
    if match := re.search(words()["reaches_out"], text, re.MULTILINE):
        what = match[0].strip()
        raise NoShadow(f"a shadow of what has {what!r} could reach others, and none can be started without a network: {_WHY}")


def _works(way: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*way, "true"], capture_output=True, check=False, timeout=_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
