"""The exit statuses of `dataplaneapi ctl`, which docs/ctl.md lists, and the exception that ends a command with an exit status."""

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
    """Ends the command. Has a message, which may have several lines, and the exit status of the command."""

    def __init__(self, message: str, status: int = USAGE) -> None:
        super().__init__(message)
        self.status = status


class RefusedCall(Failure):
    """Raised if the answer to a call is not a success. `code`: the HTTP status of the answer. `body`: its parsed JSON, or None."""

    def __init__(self, code: int, body: object, message: str) -> None:
        self.code, self.body = code, body
        super().__init__(message, FAILED if self.is_failed_reload else _OF_STATUS.get(code, REFUSED))

    @property
    def is_failed_reload(self) -> bool:
        """Whether the call waited for a reload that failed. In this case, the server has rolled the change back."""
        return isinstance(self.body, dict) and "reload_id" in self.body
