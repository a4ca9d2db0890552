# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from native.models import Model
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
    agent_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L7OK', 'L7STS'] | None = (
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
    check_status: Literal['UNK', 'INI', 'SOCKERR', 'L4OK', 'L4TOUT', 'L4CON', 'L6OK', 'L6TOUT', 'L6RSP', 'L7OK', 'L7OKC', 'L7TOUT', 'L7RSP', 'L7STS'] | None = (
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
    mode: Literal['tcp', 'http', 'health', 'unknown'] | None = None
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
    status: Literal['UP', 'DOWN', 'NOLB', 'MAINT', 'no check'] | None = None
    stot: StrictInt | None = None
    throttle: StrictInt | None = None
    tracked: StrictStr | None = None
    ttime: StrictInt | None = None
    weight: StrictInt | None = None
    wredis: StrictInt | None = None
    wretr: StrictInt | None = None
