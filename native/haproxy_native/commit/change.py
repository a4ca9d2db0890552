"""A change of the configuration as a value, and what became of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from haproxy_native.errors import Conflict
from haproxy_native.planning.outcome import Reason
from haproxy_native.text.document import Document

Edit = Callable[[Document], Document]


@dataclass(frozen=True)
class Change:
    """`version` is the one the client saw, None for any; `keeps_version` takes the text's own instead of counting.

    `banner` None: as before. `actions` are those of a raw push, used with `skip_reload`. `checked=False` skips `haproxy -c`: used when the
    running text is restored. With `whole` the change is live when the whole text is, else when its own part is. With `kept` a refused text
    is kept as a failed transaction. `sent`: the number of lines of a text as it was sent, by file, which HAProxy's messages then count.
    """

    edit: Edit
    version: int | None = None
    transaction_id: str | None = None
    force_reload: bool = False
    skip_reload: bool = False
    keeps_version: bool = False
    banner: bool | None = None
    actions: str = ""
    checked: bool = True
    whole: bool = False
    kept: bool = True
    sent: Mapping[str, int] = field(default_factory=dict)

    def compare(self, configured: int) -> None:
        if self.version is None or self.version == configured:
            return
        if self.transaction_id:
            raise Conflict(f"version mismatch, transaction version: {self.version}, configured version: {configured}")
        raise Conflict(f"version in configuration file is {configured}, given version is {self.version}")


@dataclass(frozen=True)
class Outcome:
    """`live`: in effect now. Else `reload_id` names the reload that will make it so, or has made it so where it was `forced`."""

    version: int
    reload_id: str | None = None
    live: bool = False
    forced: bool = False
    reasons: Sequence[Reason] = ()

    @property
    def kind(self) -> str:
        if self.forced:
            return "reloaded"
        return "scheduled" if self.reload_id else "live" if self.live else "written"
