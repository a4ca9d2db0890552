"""What the answers of `/v3/sidecar` have in common: times, and lists that come in pages."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Header, HeaderName, Response, json_response
from dataplaneapi.settings.quantities import seconds

LINK = HeaderName(b"Link")


def timestamp(seconds: float) -> str:
    """RFC 3339 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members that have a value: neither None nor an empty text."""
    return {name: value for name, value in members.items() if value is not None and value != ""}


def moment(call: Call, name: str) -> float | None:
    """The Unix time that a parameter gives, in RFC 3339; None without it. Raises ApiError."""
    if (text := call.values.get(name)) is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ApiError(400, f"{name} in query is no time: write RFC 3339, as in 2026-11-23T08:00:00Z") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def duration(member: str, text: str) -> float:
    """The seconds that a member of a body tells, `90s`, `5m` or a bare number. Raises ApiError."""
    try:
        return seconds(text)
    except ValueError as error:
        raise ApiError(422, f"{member} in body is no duration: {error}") from None


def page(call: Call, rows: Sequence[Mapping[str, Any]]) -> Response:
    """A list, the newest first, each row with a number as its `id`: those older than `before`, at most `limit`.

    Where more follow, a header `Link` says with which query.
    """
    before, limit = call.query.before, call.query.limit
    left = rows if not before else [row for row in rows if int(row["id"]) < int(before)]
    shown, links = left[:limit], list[Header]()
    if len(left) > len(shown):
        query = {**call.sent_query, "before": [shown[-1]["id"]]}
        links = [(LINK, f'<?{urlencode(query, doseq=True)}>; rel="next"'.encode())]
    return json_response(200, shown, links)
