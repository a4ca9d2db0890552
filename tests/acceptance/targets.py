"""Generate paths and queries of declared operations, with sane or random names."""

from random import Random
from urllib.parse import quote

from dataplaneapi.api.operations import Operation

NAMES = ("base", "web", "app", "one", "nosuch", "a/b", "é", "two words", '"', "x" * 300, ".", "..", "%", "0", "-1")
SANE_NAME = "one"
INDEXES = ("0", "1", "-1", "7", "99999", "x", "", "1e3", str(1 << 63))


def target(operation: Operation, random: Random, *, sane: bool = False) -> str:
    """Return a path and query for an operation. With `sane`, the path names an object that may be in the configuration."""
    path = "/v3" + operation.path
    for name in operation.names:
        value = "0" if name == "index" else SANE_NAME if sane else random.choice(INDEXES if name == "index" else NAMES)
        path = path.replace("{" + name + "}", quote(value, safe=""))
    asked = {each.name: "one" for each in operation.parameters if each.location == "query" and each.required}
    if any(each.name == "end_after" for each in operation.parameters):
        # Without this parameter, the answer would not end.
        asked["end_after"] = "0"
    return path + "?" + "&".join(f"{name}={value}" for name, value in asked.items())
