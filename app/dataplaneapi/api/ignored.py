"""Report query parameters and body members that the operation does not declare.

Like the Data Plane API, the server ignores them. Response headers list them, each with the known name that it resembles. With `strict` they
are an error. A parameter that resembles a guard, such as `dry_run`, is always an error, because a write that ignores its guard does more
than the caller wants.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.parameters import BOOLEANS
from dataplaneapi.api.responses import Header, HeaderName
from dataplaneapi.did_you_mean import distance, nearest

if TYPE_CHECKING:
    from dataplaneapi.api.normalize import NormalizedBody
    from dataplaneapi.api.operations import Operation

PARAMETERS, MEMBERS = HeaderName(b"X-Ignored-Parameters"), HeaderName(b"X-Ignored-Members")
STRICT, WHOLE = "strict", "full_section=true"
# The most names that a header or message lists. The others are only counted.
MOST = 10
LONGEST = 64
NEAR = 2

Known = Collection[str]


def is_strict(query: Mapping[str, list[str]], setting: bool) -> bool:
    """Return the value of the parameter `strict`. Return the setting if the query does not contain the parameter."""
    return BOOLEANS.get(query.get(STRICT, [""])[-1], setting)


def parameters(operation: "Operation", query: Mapping[str, list[str]], *, strict: bool) -> list[Header]:
    """Return the header that lists the unknown parameters of a query. Return no header if all parameters are known.

    Raises ApiError: 400 for a parameter of a write that resembles a guard; 422 for any unknown parameter if `strict`.
    """
    known: Known = {parameter.name for parameter in operation.parameters if parameter.location == "query"} | {STRICT}
    unknown = sorted(query.keys() - set(known))
    if operation.method != "GET":
        for name in unknown:
            for guard, spellings in operation.guards.items():
                if any(distance(name, spelling, NEAR) <= NEAR for spelling in spellings):
                    plan = "; try it with POST /v3/sidecar/plan" if operation.has_options else ""
                    meant = f'did you mean "{guard}"?' if guard in known else f"this operation has no such parameter{plan}."
                    raise ApiError(400, f"{name[:LONGEST]} in query is not known; {meant} Nothing has been changed.")
    ignored = dict.fromkeys(unknown, known)
    if strict and ignored:
        raise ApiError(422, "\n".join(_messages(ignored, "query")))
    return _header(PARAMETERS, ignored)


def members(body: "NormalizedBody", embedded: Iterable[str], *, strict: bool, headers: list[Header]) -> list[str]:
    """Report the unknown members of a body, and the members in `embedded`, which are read only with `full_section=true`.

    If `strict`, return a message for each. Otherwise add the header that lists them to `headers`, and return no messages.
    """
    ignored: dict[str, Known] = {}
    for path, names in body.unknown.items():
        ignored |= {f"{path}.{name}" if path else name: body.known[path] for name in sorted(names)}
    ignored |= {name: WHOLE for name in embedded if name in body.value}
    if strict:
        return list(_messages(ignored, "body"))
    headers += _header(MEMBERS, ignored)
    return []


def _messages(ignored: Mapping[str, Known], location: str) -> Iterator[str]:
    for name, known in list(ignored.items())[:MOST]:
        likely, why = _likely_name(name, known), "is read" if known is WHOLE else "is not known"
        hint = f" with {WHOLE} only" if known is WHOLE else f'; did you mean "{likely}"?' if likely else ""
        yield f"{name[:LONGEST]} in {location} {why}{hint}"
    if len(ignored) > MOST:
        yield f"{len(ignored) - MOST} more in {location} are not known"


def _header(header: HeaderName, ignored: Mapping[str, Known]) -> list[Header]:
    """Return the header, such as `wieght (weight?), colour`. Characters that a header cannot contain are percent-encoded."""
    if not ignored:
        return []
    names = []
    for name, known in list(ignored.items())[:MOST]:
        likely = _likely_name(name, known)
        names.append(quote(name[:LONGEST], safe="[]/:@", errors="surrogatepass") + (f" ({likely}?)" if likely else ""))
    more = [f"and {len(ignored) - MOST} more"] if len(ignored) > MOST else []
    return [(header, ", ".join(names + more).encode())]


def _likely_name(name: str, known: Known) -> str | None:
    return known if isinstance(known, str) else nearest(name.rpartition(".")[2][:LONGEST], known)
