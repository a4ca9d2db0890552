"""Parse the state of servers in the worker, the rows of `show servers state` (HAProxy Management Guide, section 9.3).

The bit fields of a row stay numbers. Properties interpret their bits.
"""

from contextlib import suppress
from dataclasses import dataclass

FORMAT = "1"
COLUMNS = 25
OPERATIONAL = {0: "down", 1: "up", 2: "up", 3: "stopping"}
# Results of checks by the number in srv_check_status, as `show stat` names them. Other numbers mean that the check has not ended.
CHECKS = dict(enumerate("HANA SOCKERR L4OK L4TOUT L4CON L6OK L6TOUT L6RSP L7TOUT L7RSP".split(), 4)) | dict(
    enumerate("L7OK L7OKC L7STS PROCERR PROCTOUT PROCOK".split(), 15)
)
# Bits of srv_admin_state: set by command, by the tracked server, by the configuration, by an address that does not resolve.
FORCED_MAINT, INHERITED_MAINT, CONFIGURED_MAINT, FORCED_DRAIN, INHERITED_DRAIN, UNRESOLVED = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
# Bits of srv_check_state and srv_agent_state.
IN_PROGRESS, CONFIGURED, ENABLED = 0x01, 0x02, 0x04


@dataclass(frozen=True, slots=True, repr=False)
class ServerState:
    """The columns of a row in HAProxy's order. `address`, `fqdn`, `srvrecord`, `check_addr` and `agent_addr` are `-` if unset."""

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

    def __repr__(self) -> str:
        states = f"{self.admin_state}, {self.operational_state}"
        return f"<ServerState {self.backend_name}/{self.name} {self.address}:{self.port}, weight {self.uweight}, {states}>"

    @property
    def weight(self) -> int:
        return self.uweight

    @property
    def operational_state(self) -> str | None:
        return OPERATIONAL.get(self.operational)

    @property
    def admin_state(self) -> str:
        """`maint`, `drain` or `ready`, whatever has set the state."""
        return admin_state(self.admin)

    @property
    def forced_state(self) -> str:
        """The state that a command or the configuration set, without the effects of tracked servers and name resolution."""
        if self.admin & FORCED_MAINT:
            return "maint"
        return "drain" if self.admin & FORCED_DRAIN else "ready"

    @property
    def settings(self) -> str:
        """The settings that can be overridden in the process alone, as one text. Two servers with equal settings have equal texts."""
        return f"{self.address} {self.port} {self.uweight} {self.forced_state}"

    @property
    def compared(self) -> tuple[object, ...]:
        """All values that the configuration or a command determines, without results of checks. Equal if nothing was changed."""
        decided = self.admin, self.uweight, self.address, self.port, self.fqdn, self.use_ssl
        checks = self.check_state & (CONFIGURED | ENABLED), self.agent_state & (CONFIGURED | ENABLED)
        return (*decided, self.set_health, *checks, self.check_addr, self.check_port, self.agent_addr, self.agent_port)

    @property
    def set_health(self) -> str | None:
        """The health that a command has set, `up` by default; None if checks, an agent or maintenance determine the health."""
        is_decided = self.check_enabled or self.agent_enabled or self.admin_state == "maint"
        return None if is_decided else self.operational_state

    @property
    def check_configured(self) -> bool:
        """Whether the server was created with checks, so that a command can enable them."""
        return bool(self.check_state & CONFIGURED)

    @property
    def agent_configured(self) -> bool:
        return bool(self.agent_state & CONFIGURED)

    @property
    def check_enabled(self) -> bool:
        return bool(self.check_state & CONFIGURED and self.check_state & ENABLED)

    @property
    def check_settled(self) -> bool:
        """Whether the server is up or in maintenance, and no check is in progress that could change this."""
        return not self.check_state & IN_PROGRESS and (self.operational_state == "up" or self.admin_state == "maint")

    @property
    def agent_enabled(self) -> bool:
        return bool(self.agent_state & CONFIGURED and self.agent_state & ENABLED)


def admin_state(bits: int) -> str:
    """Return what the bits of srv_admin_state mean: `maint`, `drain` or `ready`."""
    if bits & (FORCED_MAINT | INHERITED_MAINT | UNRESOLVED):
        return "maint"
    return "drain" if bits & (FORCED_DRAIN | INHERITED_DRAIN) else "ready"


def server_states(text: str) -> list[ServerState]:
    """Parse an answer to `show servers state`, without malformed rows. Returns an empty list if the format is not version 1."""
    format_, *lines = text.split("\n")
    states = []
    if format_.strip() == FORMAT:
        for line in lines:
            c = line.split(" ")
            if line.startswith("#") or len(c) < COLUMNS:
                continue
            with suppress(ValueError):
                states.append(ServerState(
                    int(c[0]), c[1], int(c[2]), c[3], c[4], int(c[5]), int(c[6]), int(c[7]), int(c[8]), int(c[9]), int(c[10]), int(c[11]),
                    int(c[12]), int(c[13]), int(c[14]), int(c[15]), int(c[16]), c[17], int(c[18]), c[19], c[20] == "1", int(c[21]), c[22],
                    c[23], int(c[24]),
                ))  # fmt: skip
    return states
