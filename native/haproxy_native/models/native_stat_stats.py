# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class NativeStatStats(Model):
    act: StrictInt | None = None
    addr: StrictStr | None = None
    agent_code: StrictInt | None = None
    agent_desc: StrictStr | None = None
    agent_duration: StrictInt | None = None
    agent_fall: StrictInt | None = None
    agent_health: StrictInt | None = None
    agent_rise: StrictInt | None = None
    agent_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L6OK', 'L6TOUT', 'L6RSP', 'L7OK', 'L7OKC', 'L7TOUT', 'L7RSP', 'L7STS', 'PROCERR', 'PROCTOUT', 'PROCOK', 'CHECKED', 'HANA', '* SOCKERR', '* L4OK', '* L4TOUT', '* L4CON', '* L6OK', '* L6TOUT', '* L6RSP', '* L7OK', '* L7OKC', '* L7TOUT', '* L7RSP', '* L7STS', '* PROCERR', '* PROCTOUT', '* PROCOK', '* CHECKED', '* HANA'] | None = (
        None
    )
    algo: StrictStr | None = None
    bck: StrictInt | None = None
    bin: StrictInt | None = None
    bout: StrictInt | None = None
    check_code: StrictInt | None = None
    check_desc: StrictStr | None = None
    check_duration: StrictInt | None = None
    check_fall: StrictInt | None = None
    check_health: StrictInt | None = None
    check_rise: StrictInt | None = None
    check_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L6OK', 'L6TOUT', 'L6RSP', 'L7OK', 'L7OKC', 'L7TOUT', 'L7RSP', 'L7STS', 'PROCERR', 'PROCTOUT', 'PROCOK', 'CHECKED', 'HANA', '* SOCKERR', '* L4OK', '* L4TOUT', '* L4CON', '* L6OK', '* L6TOUT', '* L6RSP', '* L7OK', '* L7OKC', '* L7TOUT', '* L7RSP', '* L7STS', '* PROCERR', '* PROCTOUT', '* PROCOK', '* CHECKED', '* HANA'] | None = (
        None
    )
    chkdown: StrictInt | None = None
    chkfail: StrictInt | None = None
    cli_abrt: StrictInt | None = None
    comp_byp: StrictInt | None = None
    comp_in: StrictInt | None = None
    comp_out: StrictInt | None = None
    comp_rsp: StrictInt | None = None
    conn_rate: StrictInt | None = None
    conn_rate_max: StrictInt | None = None
    conn_tot: StrictInt | None = None
    cookie: StrictStr | None = None
    ctime: StrictInt | None = None
    dcon: StrictInt | None = None
    downtime: StrictInt | None = None
    dreq: StrictInt | None = None
    dresp: StrictInt | None = None
    dses: StrictInt | None = None
    econ: StrictInt | None = None
    ereq: StrictInt | None = None
    eresp: StrictInt | None = None
    hanafail: StrictStr | None = None
    hrsp_1xx: StrictInt | None = None
    hrsp_2xx: StrictInt | None = None
    hrsp_3xx: StrictInt | None = None
    hrsp_4xx: StrictInt | None = None
    hrsp_5xx: StrictInt | None = None
    hrsp_other: StrictInt | None = None
    iid: StrictInt | None = None
    intercepted: StrictInt | None = None
    last_agt: StrictStr | None = None
    last_chk: StrictStr | None = None
    lastchg: StrictInt | None = None
    lastsess: StrictInt | None = None
    lbtot: StrictInt | None = None
    mode: Literal['tcp', 'http', 'health', 'unknown', 'syslog', 'spop', 'haterm'] | None = (
        None
    )
    pid: StrictInt | None = None
    qcur: StrictInt | None = None
    qlimit: StrictInt | None = None
    qmax: StrictInt | None = None
    qtime: StrictInt | None = None
    rate: StrictInt | None = None
    rate_lim: StrictInt | None = None
    rate_max: StrictInt | None = None
    req_rate: StrictInt | None = None
    req_rate_max: StrictInt | None = None
    req_tot: StrictInt | None = None
    rtime: StrictInt | None = None
    scur: StrictInt | None = None
    sid: StrictInt | None = None
    slim: StrictInt | None = None
    smax: StrictInt | None = None
    srv_abrt: StrictInt | None = None
    status: Literal['UP', 'DOWN', 'NOLB', 'MAINT', 'no check', 'OPEN', 'FULL', 'WAITING', 'PAUSED', 'STOP', 'DRAIN', 'DOWN (agent)', 'DRAIN (agent)', 'MAINT (resolution)', 'UP 1/2', 'UP 1/3', 'UP 2/3', 'UP 1/4', 'UP 2/4', 'UP 3/4', 'UP 1/5', 'UP 2/5', 'UP 3/5', 'UP 4/5', 'UP 1/6', 'UP 2/6', 'UP 3/6', 'UP 4/6', 'UP 5/6', 'UP 1/7', 'UP 2/7', 'UP 3/7', 'UP 4/7', 'UP 5/7', 'UP 6/7', 'UP 1/8', 'UP 2/8', 'UP 3/8', 'UP 4/8', 'UP 5/8', 'UP 6/8', 'UP 7/8', 'UP 1/9', 'UP 2/9', 'UP 3/9', 'UP 4/9', 'UP 5/9', 'UP 6/9', 'UP 7/9', 'UP 8/9', 'UP 1/10', 'UP 2/10', 'UP 3/10', 'UP 4/10', 'UP 5/10', 'UP 6/10', 'UP 7/10', 'UP 8/10', 'UP 9/10', 'DOWN 1/2', 'DOWN 1/3', 'DOWN 2/3', 'DOWN 1/4', 'DOWN 2/4', 'DOWN 3/4', 'DOWN 1/5', 'DOWN 2/5', 'DOWN 3/5', 'DOWN 4/5', 'DOWN 1/6', 'DOWN 2/6', 'DOWN 3/6', 'DOWN 4/6', 'DOWN 5/6', 'DOWN 1/7', 'DOWN 2/7', 'DOWN 3/7', 'DOWN 4/7', 'DOWN 5/7', 'DOWN 6/7', 'DOWN 1/8', 'DOWN 2/8', 'DOWN 3/8', 'DOWN 4/8', 'DOWN 5/8', 'DOWN 6/8', 'DOWN 7/8', 'DOWN 1/9', 'DOWN 2/9', 'DOWN 3/9', 'DOWN 4/9', 'DOWN 5/9', 'DOWN 6/9', 'DOWN 7/9', 'DOWN 8/9', 'DOWN 1/10', 'DOWN 2/10', 'DOWN 3/10', 'DOWN 4/10', 'DOWN 5/10', 'DOWN 6/10', 'DOWN 7/10', 'DOWN 8/10', 'DOWN 9/10', 'NOLB 1/2', 'NOLB 1/3', 'NOLB 2/3', 'NOLB 1/4', 'NOLB 2/4', 'NOLB 3/4', 'NOLB 1/5', 'NOLB 2/5', 'NOLB 3/5', 'NOLB 4/5', 'NOLB 1/6', 'NOLB 2/6', 'NOLB 3/6', 'NOLB 4/6', 'NOLB 5/6', 'NOLB 1/7', 'NOLB 2/7', 'NOLB 3/7', 'NOLB 4/7', 'NOLB 5/7', 'NOLB 6/7', 'NOLB 1/8', 'NOLB 2/8', 'NOLB 3/8', 'NOLB 4/8', 'NOLB 5/8', 'NOLB 6/8', 'NOLB 7/8', 'NOLB 1/9', 'NOLB 2/9', 'NOLB 3/9', 'NOLB 4/9', 'NOLB 5/9', 'NOLB 6/9', 'NOLB 7/9', 'NOLB 8/9', 'NOLB 1/10', 'NOLB 2/10', 'NOLB 3/10', 'NOLB 4/10', 'NOLB 5/10', 'NOLB 6/10', 'NOLB 7/10', 'NOLB 8/10', 'NOLB 9/10', 'DRAIN 1/2', 'DRAIN 1/3', 'DRAIN 2/3', 'DRAIN 1/4', 'DRAIN 2/4', 'DRAIN 3/4', 'DRAIN 1/5', 'DRAIN 2/5', 'DRAIN 3/5', 'DRAIN 4/5', 'DRAIN 1/6', 'DRAIN 2/6', 'DRAIN 3/6', 'DRAIN 4/6', 'DRAIN 5/6', 'DRAIN 1/7', 'DRAIN 2/7', 'DRAIN 3/7', 'DRAIN 4/7', 'DRAIN 5/7', 'DRAIN 6/7', 'DRAIN 1/8', 'DRAIN 2/8', 'DRAIN 3/8', 'DRAIN 4/8', 'DRAIN 5/8', 'DRAIN 6/8', 'DRAIN 7/8', 'DRAIN 1/9', 'DRAIN 2/9', 'DRAIN 3/9', 'DRAIN 4/9', 'DRAIN 5/9', 'DRAIN 6/9', 'DRAIN 7/9', 'DRAIN 8/9', 'DRAIN 1/10', 'DRAIN 2/10', 'DRAIN 3/10', 'DRAIN 4/10', 'DRAIN 5/10', 'DRAIN 6/10', 'DRAIN 7/10', 'DRAIN 8/10', 'DRAIN 9/10'] | None = (
        None
    )
    stot: StrictInt | None = None
    throttle: StrictInt | None = None
    tracked: StrictStr | None = None
    ttime: StrictInt | None = None
    weight: StrictInt | None = None
    wredis: StrictInt | None = None
    wretr: StrictInt | None = None
