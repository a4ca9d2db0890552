"""Names of objects, such as `backend/shop/server/web1`, and their paths in the API."""

from urllib.parse import unquote

from dataplaneapi.ctl.client import quote_name
from dataplaneapi.ctl.failures import Failure
from dataplaneapi.ctl.kinds import AT_RUNTIME, COLLECTIONS, FULL, INDEXED, KEYS, KEYWORDS, OTHERS, SINGLE

CONFIGURATION = "/v3/services/haproxy/configuration"
SIDECAR = "/v3/sidecar"


class Object:
    """The address of an object. Without a `name`, the address of a collection.

    `kind`: for example `backend` or `backend/server`. `parent`: the name of the section that contains the object; empty for a section.
    """

    def __init__(self, kind: str, parent: str, name: str | None, *, runtime: bool = False) -> None:
        self.kind, self.parent, self.name, self.runtime = kind, parent, name, runtime

    @property
    def is_one(self) -> bool:
        """Whether this address names one object. If not, it names a collection."""
        return self.name is not None or self.kind in SINGLE or self.kind == "info"

    @property
    def is_configured(self) -> bool:
        """Whether this address names a part of the configuration's text."""
        return self.kind in COLLECTIONS and not self.runtime

    @property
    def key(self) -> str:
        """The member of the object that contains its name. Empty if objects of this kind are addressed by their index."""
        last = self.kind.rpartition("/")[2]
        return "" if last in INDEXED else KEYS.get(last, "name")

    @property
    def path(self) -> str:
        if self.runtime:
            template = AT_RUNTIME[self.kind]
        else:
            template = f"{CONFIGURATION}/{COLLECTIONS[self.kind]}" if self.kind in COLLECTIONS else OTHERS[self.kind]
        collection = template.partition("?")[0].replace("{}", quote_name(self.parent))
        return collection if self.name is None else f"{collection}/{quote_name(self.name)}"

    @property
    def query(self) -> dict[str, str]:
        """The query parameters for a GET of `path`."""
        parameter = COLLECTIONS[self.kind].partition("?")[2].partition("=")[0] if self.is_configured else ""
        full = {"full_section": "true"} if self.is_configured and self.is_one and self.kind in FULL else {}
        return full | ({parameter: self.parent} if parameter else {})

    @property
    def section(self) -> str:
        """The keyword in the file, such as `peers`, of this section or of the section that contains this object."""
        return KEYWORDS[self.kind.partition("/")[0]]

    def __str__(self) -> str:
        above, _, last = self.kind.rpartition("/")
        parent = [above, *([quote_name(self.parent)] if above not in SINGLE else [])] if above else []
        return "/".join([*parent, last, *([quote_name(self.name)] if self.name is not None else [])])


def kinds(*, runtime: bool = False) -> list[str]:
    """Return the kinds with which a name that `parse_object` accepts may begin."""
    return sorted({kind.partition("/")[0] for kind in (AT_RUNTIME if runtime else {**COLLECTIONS, **OTHERS})})


def parse_object(words: list[str], *, runtime: bool = False) -> Object:
    """Return the object or collection that words such as `backend/shop`, `backend shop` or `backends` name. Raises Failure."""
    known = AT_RUNTIME if runtime else {**COLLECTIONS, **OTHERS}
    parts = words[0].strip("/").split("/")
    first = _kind(parts[0], "", known)
    if first in SINGLE:
        return _parse_child(known, first, "", parts[1:], words, runtime=runtime)
    if len(parts) < 3:
        given = [unquote(parts[1])] if len(parts) == 2 else []
        if len(parts) == 1 and len(words) > 1:
            given = ["/".join(words[1:2])]
        if first not in known and not (runtime and given):
            raise Failure(f"{first} needs a name and a kind in it, as in {first}/shop/server")
        if first not in known:
            return Object(_kind("server", first, known), given[0], None, runtime=runtime)
        if len(words) > 1 + (len(parts) == 1):
            raise Failure(f"{' '.join(words)!r} has too many words; expected KIND, KIND NAME or KIND/NAME")
        return Object(first, "", given[0] if given else None, runtime=runtime)
    return _parse_child(known, first, unquote(parts[1]), parts[2:], words, runtime=runtime)


def _parse_child(known: dict[str, str], first: str, parent: str, rest: list[str], words: list[str], *, runtime: bool) -> Object:
    """Return the object or collection in a section. Raises Failure.

    `first`, `parent`: the kind and the name of the section. `rest`: the parts of the first word after the section. `words`: all words.
    """
    names = [*(unquote(segment) for segment in rest[1:]), *words[1:]]
    if not rest and not names:
        return Object(first, "", None, runtime=runtime)
    if not rest or len(names) > 1:
        raise Failure(f"{' '.join(words)!r} is not an object; write backend/shop/server/web1, or backend/shop/server for the list")
    return Object(_kind(rest[0], first, known), parent, names[0] if names else None, runtime=runtime)


def _kind(word: str, above: str, known: dict[str, str]) -> str:
    """Return the kind that `word` denotes.

    `word`: the kind, the last segment of its path (`backends`), or its keyword in the file (`peers`). `above`: the kind of the section that
    contains objects of this kind; empty for a section. Raises Failure.
    """
    inside = f"{above}/" if above else ""
    firsts = {kind.partition("/")[0] for kind in known}
    if f"{inside}{word}" in known or (not above and word in firsts):
        return f"{inside}{word}"
    for kind, path in known.items():
        if kind.rpartition("/")[0] == above and (
            path.partition("?")[0].rpartition("/")[2] == word or (not above and KEYWORDS.get(kind) == word)
        ):
            return kind
    inner = [kind for kind in known if not above and kind.endswith(f"/{word}")]
    if inner:
        raise Failure(f"{word} is part of another object: {inner[0].replace('/', '/NAME/')}")
    near = [kind.removeprefix(inside) for kind in known if kind.startswith(inside)] if above else sorted(firsts)
    from difflib import get_close_matches

    close = get_close_matches(word, near, 1)
    raise Failure(f"{inside}{word} is not known" + (f"; did you mean {close[0]}?" if close else f"; there are {', '.join(near)}"))
