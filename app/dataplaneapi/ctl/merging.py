"""Three versions of an object as one, member by member: what one of two has changed since, and what both have."""

from typing import Any

# No value: the member is not there.
ABSENT: Any = object()


class Clash:
    """A member that both have changed, by its path; `mine` and `theirs` may be ABSENT."""

    def __init__(self, path: str, mine: Any, theirs: Any) -> None:
        self.path, self.mine, self.theirs = path, mine, theirs


def merged(base: Any, mine: Any, theirs: Any, path: str = "") -> tuple[Any, list[Clash]]:
    """Objects are merged by their members, anything else is one value. Where both have changed it, mine stands."""
    if mine == theirs or theirs == base:
        return mine, []
    if mine == base:
        return theirs, []
    if not (isinstance(mine, dict) and isinstance(theirs, dict)):
        return mine, [Clash(path or "all", mine, theirs)]
    former = base if isinstance(base, dict) else {}
    result, clashes = {}, []
    for member in [*theirs, *(name for name in mine if name not in theirs)]:
        below = f"{path}.{member}" if path else str(member)
        value, more = merged(former.get(member, ABSENT), mine.get(member, ABSENT), theirs.get(member, ABSENT), below)
        clashes += more
        if value is not ABSENT:
            result[member] = value
    return result, clashes
