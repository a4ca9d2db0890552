"""Convert values by the conventions of `/v3/sidecar`: times, durations, members without a value, and pages of lists."""

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
    """Format a Unix time as RFC 3339 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_unset(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members whose value is neither None nor an empty text."""
    return {name: value for name, value in members.items() if value is not None and value != ""}


def moment(call: Call, name: str) -> float | None:
    """Convert a parameter from RFC 3339 to Unix time. A time without an offset is in UTC.

    Return None if the parameter was not sent. Raises ApiError (400).
    """
    if (text := call.values.get(name)) is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ApiError(400, f"{name} in query is not a time: write RFC 3339, as in 2026-11-23T08:00:00Z") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def duration(member: str, text: str) -> float:
    """Return the seconds of a duration in a body, such as `90s`, `5m` or a bare number. Raises ApiError (422), which names `member`."""
    try:
        return seconds(text)
    except ValueError as error:
        raise ApiError(422, f"{member} in body is not a duration: {error}") from None


def page(call: Call, rows: Sequence[Mapping[str, Any]]) -> Response:
    """Return one page of a list: at most `limit` of the rows whose `id` is less than the query parameter `before`.

    `rows` must be sorted by `id`, a number, in descending order. If more rows follow, the header `Link` has the query of the next page.
    """
    before, limit = call.query.before, call.query.limit
    older = rows if not before else [row for row in rows if int(row["id"]) < int(before)]
    shown, links = older[:limit], list[Header]()
    if len(older) > len(shown):
        query = {**call.sent_query, "before": [shown[-1]["id"]]}
        links = [(LINK, f'<?{urlencode(query, doseq=True)}>; rel="next"'.encode())]
    return json_response(200, shown, links)
