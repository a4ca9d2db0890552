"""A server in the running worker: one row of `show servers state` (HAProxy Management Guide, section 9.3).

Bit fields keep their number and have properties that name their bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

FORMAT = "1"
COLUMNS = 25
OPERATIONAL = {0: "down", 1: "up", 2: "up", 3: "stopping"}
# Of srv_admin_state: set by command, by the tracked server, by the configuration, by an address that does not resolve.
FORCED_MAINT, INHERITED_MAINT, CONFIGURED_MAINT, FORCED_DRAIN, INHERITED_DRAIN, UNRESOLVED = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
# Of srv_check_state and srv_agent_state.
IN_PROGRESS, CONFIGURED, ENABLED = 0x01, 0x02, 0x04


@dataclass(frozen=True, slots=True)
class ServerState:
    """`address`, `fqdn`, `srvrecord`, `check_addr` and `agent_addr` are `-` where there is none, as HAProxy prints them."""

    backend_id: int
    backend_name: str
    id: int
    name: str
    address: str
    operational: int
    admin: int
    uweight: int
    iweight: int
    last_time_change: int
    check_status: int
    check_result: int
    check_health: int
    check_state: int
    agent_state: int
    backend_forced_id: int
    forced_id: int
    fqdn: str
    port: int
    srvrecord: str
    use_ssl: bool
    check_port: int
    check_addr: str
    agent_addr: str
    agent_port: int

    @property
    def weight(self) -> int:
        return self.uweight

    @property
    def operational_state(self) -> str | None:
        return OPERATIONAL.get(self.operational)

    @property
    def admin_state(self) -> str:
        """`maint`, `drain` or `ready`, whatever brought it there."""
        return admin_state(self.admin)

    @property
    def forced_state(self) -> str:
        """What a command or the configuration asked for, tracked servers and name resolution aside."""
        if self.admin & FORCED_MAINT:
            return "maint"
        return "drain" if self.admin & FORCED_DRAIN else "ready"

    @property
    def settings(self) -> str:
        """What can be changed in the process alone, as one text to compare."""
        return f"{self.address} {self.port} {self.uweight} {self.forced_state}"

    @property
    def compared(self) -> tuple[object, ...]:
        """What a configuration or a command decides of it, whatever checks find."""
        decided = self.admin, self.uweight, self.address, self.port, self.fqdn, self.use_ssl
        checks = self.check_state & (CONFIGURED | ENABLED), self.agent_state & (CONFIGURED | ENABLED)
        return (*decided, self.set_health, *checks, self.check_addr, self.check_port, self.agent_addr, self.agent_port)

    @property
    def set_health(self) -> str | None:
        """The health that a command has set, `up` without one; None where checks, an agent or maintenance decide it."""
        is_decided = self.check_enabled or self.agent_enabled or self.admin_state == "maint"
        return None if is_decided else self.operational_state

    @property
    def check_configured(self) -> bool:
        """Whether it had checks when it came to be, so that they can be switched on again."""
        return bool(self.check_state & CONFIGURED)

    @property
    def agent_configured(self) -> bool:
        return bool(self.agent_state & CONFIGURED)

    @property
    def check_enabled(self) -> bool:
        return bool(self.check_state & CONFIGURED and self.check_state & ENABLED)

    @property
    def check_settled(self) -> bool:
        """Up, unless it is in maintenance, and no check is under way whose result could still change that."""
        return not self.check_state & IN_PROGRESS and (self.operational_state == "up" or self.admin_state == "maint")

    @property
    def agent_enabled(self) -> bool:
        return bool(self.agent_state & CONFIGURED and self.agent_state & ENABLED)


def admin_state(bits: int) -> str:
    """What the bits of srv_admin_state come to: `maint`, `drain` or `ready`."""
    if bits & (FORCED_MAINT | INHERITED_MAINT | UNRESOLVED):
        return "maint"
    return "drain" if bits & (FORCED_DRAIN | INHERITED_DRAIN) else "ready"


def server_states(text: str) -> list[ServerState]:
    """Every server of the answer; rows of a format we do not know are left out."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != FORMAT:
        return []
    return list(_rows(lines[1:]))


def _rows(lines: list[str]) -> Iterator[ServerState]:
    for line in lines:
        columns = line.split(" ")
        if line.startswith("#") or len(columns) < COLUMNS:
            continue
        try:
            yield _row(columns)
        except ValueError:
            continue


def _row(c: list[str]) -> ServerState:
    return ServerState(
        int(c[0]), c[1], int(c[2]), c[3], c[4], int(c[5]), int(c[6]), int(c[7]), int(c[8]), int(c[9]), int(c[10]), int(c[11]), int(c[12]),
        int(c[13]), int(c[14]), int(c[15]), int(c[16]), c[17], int(c[18]), c[19], c[20] == "1", int(c[21]), c[22], c[23], int(c[24]),
    )  # fmt: skip
