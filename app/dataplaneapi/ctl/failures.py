"""Exit statuses of `dataplaneapi ctl`, and the one exception that ends it. docs/ctl.md lists the statuses."""

OK = 0
REFUSED = 1
USAGE = 2
CONFLICT = 3
UNREACHABLE = 4
FAILED = 5
PENDING = 6
DENIED = 7
DIFFERS = 10
INTERRUPTED = 130
CLOSED_PIPE = 141

_OF_STATUS = {401: DENIED, 403: DENIED, 406: CONFLICT, 409: CONFLICT, 412: CONFLICT}


class Failure(Exception):
    """Ends the command: a message of one line or more, and the exit status."""

    def __init__(self, message: str, status: int = USAGE) -> None:
        super().__init__(message)
        self.status = status


class Refused(Failure):
    """The server refused the request or failed; `code` is the status, `body` the JSON of its answer."""

    def __init__(self, code: int, body: object, message: str) -> None:
        super().__init__(message, _OF_STATUS.get(code, REFUSED))
        self.code, self.body = code, body
