# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class NativeStatStats(Model):
    """Counters; what does not apply is absent (HAProxy Management Guide, 9.1)."""

    act: StrictInt | None = None
    """Active servers that are up; of a server 1 when it is active."""
    addr: StrictStr | None = None
    """Address and port of the server."""
    agent_code: StrictInt | None = None
    """Code of the last agent check."""
    agent_desc: StrictStr | None = None
    """Result of the last agent check in words."""
    agent_duration: StrictInt | None = None
    """Milliseconds that the last agent check took."""
    agent_fall: StrictInt | None = None
    """Failed agent checks that take the server down."""
    agent_health: StrictInt | None = None
    """State of agent checks, from 0 to rise and fall less one."""
    agent_rise: StrictInt | None = None
    """Successful agent checks that bring the server up."""
    agent_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L6OK', 'L6TOUT', 'L6RSP', 'L7OK', 'L7OKC', 'L7TOUT', 'L7RSP', 'L7STS', 'PROCERR', 'PROCTOUT', 'PROCOK', 'CHECKED', 'HANA', '* SOCKERR', '* L4OK', '* L4TOUT', '* L4CON', '* L6OK', '* L6TOUT', '* L6RSP', '* L7OK', '* L7OKC', '* L7TOUT', '* L7RSP', '* L7STS', '* PROCERR', '* PROCTOUT', '* PROCOK', '* CHECKED', '* HANA'] | None = (
        None
    )
    """Result of the last agent check; an asterisk tells that the next one is going on."""
    algo: StrictStr | None = None
    """How servers are chosen."""
    bck: StrictInt | None = None
    """Backup servers that are up; of a server 1 when it is a backup."""
    bin: StrictInt | None = None
    """Bytes received."""
    bout: StrictInt | None = None
    """Bytes sent."""
    check_code: StrictInt | None = None
    """Code of the last health check."""
    check_desc: StrictStr | None = None
    """Result of the last health check in words."""
    check_duration: StrictInt | None = None
    """Milliseconds that the last health check took."""
    check_fall: StrictInt | None = None
    """Failed checks that take the server down."""
    check_health: StrictInt | None = None
    """State of health checks, from 0 to rise and fall less one."""
    check_rise: StrictInt | None = None
    """Successful checks that bring the server up."""
    check_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L6OK', 'L6TOUT', 'L6RSP', 'L7OK', 'L7OKC', 'L7TOUT', 'L7RSP', 'L7STS', 'PROCERR', 'PROCTOUT', 'PROCOK', 'CHECKED', 'HANA', '* SOCKERR', '* L4OK', '* L4TOUT', '* L4CON', '* L6OK', '* L6TOUT', '* L6RSP', '* L7OK', '* L7OKC', '* L7TOUT', '* L7RSP', '* L7STS', '* PROCERR', '* PROCTOUT', '* PROCOK', '* CHECKED', '* HANA'] | None = (
        None
    )
    """Result of the last health check; an asterisk tells that the next one is going on."""
    chkdown: StrictInt | None = None
    """How often it went from up to down."""
    chkfail: StrictInt | None = None
    """Failed checks."""
    cli_abrt: StrictInt | None = None
    """Transfers that the client broke off."""
    comp_byp: StrictInt | None = None
    """Bytes that were not compressed for lack of resources."""
    comp_in: StrictInt | None = None
    """Bytes given to compression."""
    comp_out: StrictInt | None = None
    """Bytes that compression made."""
    comp_rsp: StrictInt | None = None
    """Compressed responses."""
    conn_rate: StrictInt | None = None
    """Connections in the last second."""
    conn_rate_max: StrictInt | None = None
    """Most connections within a second."""
    conn_tot: StrictInt | None = None
    """Connections since the start."""
    cookie: StrictStr | None = None
    """Cookie value of the server, or name of the cookie of the backend."""
    ctime: StrictInt | None = None
    """Average milliseconds to connect, over the last 1024 requests."""
    dcon: StrictInt | None = None
    """Connections denied by rules."""
    downtime: StrictInt | None = None
    """Seconds that it was down."""
    dreq: StrictInt | None = None
    """Requests denied by rules."""
    dresp: StrictInt | None = None
    """Responses denied by rules."""
    dses: StrictInt | None = None
    """Sessions denied by rules."""
    econ: StrictInt | None = None
    """Attempts to connect that failed."""
    ereq: StrictInt | None = None
    """Requests that were in error."""
    eresp: StrictInt | None = None
    """Responses that were in error."""
    hanafail: StrictStr | None = None
    """Details of failed health analyses."""
    hrsp_1xx: StrictInt | None = None
    """Responses with a status from 100 to 199."""
    hrsp_2xx: StrictInt | None = None
    """Responses with a status from 200 to 299."""
    hrsp_3xx: StrictInt | None = None
    """Responses with a status from 300 to 399."""
    hrsp_4xx: StrictInt | None = None
    """Responses with a status from 400 to 499."""
    hrsp_5xx: StrictInt | None = None
    """Responses with a status from 500 to 599."""
    hrsp_other: StrictInt | None = None
    """Responses with another status."""
    iid: StrictInt | None = None
    """Number of the proxy."""
    intercepted: StrictInt | None = None
    """Requests that HAProxy answered itself."""
    last_agt: StrictStr | None = None
    """Output of the last agent check."""
    last_chk: StrictStr | None = None
    """Output of the last health check."""
    lastchg: StrictInt | None = None
    """Seconds since it last went up or down."""
    lastsess: StrictInt | None = None
    """Seconds since the last session was given to it; -1 when there was none."""
    lbtot: StrictInt | None = None
    """How often it was chosen for a new session."""
    mode: Literal['tcp', 'http', 'health', 'unknown', 'syslog', 'spop', 'haterm'] | None = (
        None
    )
    """Mode of the proxy."""
    pid: StrictInt | None = None
    """Number of the process."""
    qcur: StrictInt | None = None
    """Requests in the queue now."""
    qlimit: StrictInt | None = None
    """Limit of the queue; absent or 0 is none."""
    qmax: StrictInt | None = None
    """Most requests in the queue."""
    qtime: StrictInt | None = None
    """Average milliseconds in the queue, over the last 1024 requests."""
    rate: StrictInt | None = None
    """Sessions in the last second."""
    rate_lim: StrictInt | None = None
    """Limit of sessions a second."""
    rate_max: StrictInt | None = None
    """Most sessions within a second."""
    req_rate: StrictInt | None = None
    """Requests in the last second."""
    req_rate_max: StrictInt | None = None
    """Most requests within a second."""
    req_tot: StrictInt | None = None
    """Requests since the start."""
    rtime: StrictInt | None = None
    """Average milliseconds to a response, over the last 1024 requests."""
    scur: StrictInt | None = None
    """Sessions now."""
    sid: StrictInt | None = None
    """Number of the server within its backend."""
    slim: StrictInt | None = None
    """Limit of sessions."""
    smax: StrictInt | None = None
    """Most sessions at a time."""
    srv_abrt: StrictInt | None = None
    """Transfers that the server broke off."""
    status: Literal['UP', 'DOWN', 'NOLB', 'MAINT', 'no check', 'OPEN', 'FULL', 'WAITING', 'PAUSED', 'STOP', 'DRAIN', 'DOWN (agent)', 'DRAIN (agent)', 'MAINT (resolution)', 'UP 1/2', 'UP 1/3', 'UP 2/3', 'UP 1/4', 'UP 2/4', 'UP 3/4', 'UP 1/5', 'UP 2/5', 'UP 3/5', 'UP 4/5', 'UP 1/6', 'UP 2/6', 'UP 3/6', 'UP 4/6', 'UP 5/6', 'UP 1/7', 'UP 2/7', 'UP 3/7', 'UP 4/7', 'UP 5/7', 'UP 6/7', 'UP 1/8', 'UP 2/8', 'UP 3/8', 'UP 4/8', 'UP 5/8', 'UP 6/8', 'UP 7/8', 'UP 1/9', 'UP 2/9', 'UP 3/9', 'UP 4/9', 'UP 5/9', 'UP 6/9', 'UP 7/9', 'UP 8/9', 'UP 1/10', 'UP 2/10', 'UP 3/10', 'UP 4/10', 'UP 5/10', 'UP 6/10', 'UP 7/10', 'UP 8/10', 'UP 9/10', 'DOWN 1/2', 'DOWN 1/3', 'DOWN 2/3', 'DOWN 1/4', 'DOWN 2/4', 'DOWN 3/4', 'DOWN 1/5', 'DOWN 2/5', 'DOWN 3/5', 'DOWN 4/5', 'DOWN 1/6', 'DOWN 2/6', 'DOWN 3/6', 'DOWN 4/6', 'DOWN 5/6', 'DOWN 1/7', 'DOWN 2/7', 'DOWN 3/7', 'DOWN 4/7', 'DOWN 5/7', 'DOWN 6/7', 'DOWN 1/8', 'DOWN 2/8', 'DOWN 3/8', 'DOWN 4/8', 'DOWN 5/8', 'DOWN 6/8', 'DOWN 7/8', 'DOWN 1/9', 'DOWN 2/9', 'DOWN 3/9', 'DOWN 4/9', 'DOWN 5/9', 'DOWN 6/9', 'DOWN 7/9', 'DOWN 8/9', 'DOWN 1/10', 'DOWN 2/10', 'DOWN 3/10', 'DOWN 4/10', 'DOWN 5/10', 'DOWN 6/10', 'DOWN 7/10', 'DOWN 8/10', 'DOWN 9/10', 'NOLB 1/2', 'NOLB 1/3', 'NOLB 2/3', 'NOLB 1/4', 'NOLB 2/4', 'NOLB 3/4', 'NOLB 1/5', 'NOLB 2/5', 'NOLB 3/5', 'NOLB 4/5', 'NOLB 1/6', 'NOLB 2/6', 'NOLB 3/6', 'NOLB 4/6', 'NOLB 5/6', 'NOLB 1/7', 'NOLB 2/7', 'NOLB 3/7', 'NOLB 4/7', 'NOLB 5/7', 'NOLB 6/7', 'NOLB 1/8', 'NOLB 2/8', 'NOLB 3/8', 'NOLB 4/8', 'NOLB 5/8', 'NOLB 6/8', 'NOLB 7/8', 'NOLB 1/9', 'NOLB 2/9', 'NOLB 3/9', 'NOLB 4/9', 'NOLB 5/9', 'NOLB 6/9', 'NOLB 7/9', 'NOLB 8/9', 'NOLB 1/10', 'NOLB 2/10', 'NOLB 3/10', 'NOLB 4/10', 'NOLB 5/10', 'NOLB 6/10', 'NOLB 7/10', 'NOLB 8/10', 'NOLB 9/10', 'DRAIN 1/2', 'DRAIN 1/3', 'DRAIN 2/3', 'DRAIN 1/4', 'DRAIN 2/4', 'DRAIN 3/4', 'DRAIN 1/5', 'DRAIN 2/5', 'DRAIN 3/5', 'DRAIN 4/5', 'DRAIN 1/6', 'DRAIN 2/6', 'DRAIN 3/6', 'DRAIN 4/6', 'DRAIN 5/6', 'DRAIN 1/7', 'DRAIN 2/7', 'DRAIN 3/7', 'DRAIN 4/7', 'DRAIN 5/7', 'DRAIN 6/7', 'DRAIN 1/8', 'DRAIN 2/8', 'DRAIN 3/8', 'DRAIN 4/8', 'DRAIN 5/8', 'DRAIN 6/8', 'DRAIN 7/8', 'DRAIN 1/9', 'DRAIN 2/9', 'DRAIN 3/9', 'DRAIN 4/9', 'DRAIN 5/9', 'DRAIN 6/9', 'DRAIN 7/9', 'DRAIN 8/9', 'DRAIN 1/10', 'DRAIN 2/10', 'DRAIN 3/10', 'DRAIN 4/10', 'DRAIN 5/10', 'DRAIN 6/10', 'DRAIN 7/10', 'DRAIN 8/10', 'DRAIN 9/10'] | None = (
        None
    )
    """State, with a transition such as UP 1/3 where there is one; a tracking server may be MAINT (via backend/server)."""
    stot: StrictInt | None = None
    """Sessions since the start."""
    throttle: StrictInt | None = None
    """Percentage of its weight while it starts slowly."""
    tracked: StrictStr | None = None
    """The server whose state is taken over."""
    ttime: StrictInt | None = None
    """Average milliseconds of a whole session, over the last 1024 requests."""
    weight: StrictInt | None = None
    """Effective weight; of a backend that of all its servers."""
    wredis: StrictInt | None = None
    """Requests given to another server."""
    wretr: StrictInt | None = None
    """Repeated attempts to connect."""
