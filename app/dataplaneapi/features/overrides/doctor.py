"""The findings of `dataplaneapi doctor` about overrides."""

import os
from collections.abc import Iterator
from pathlib import Path

from dataplaneapi.doctor.finding import NOTE, OK, WARNING, DoctorFinding
from dataplaneapi.open_engine import config_files
from dataplaneapi.settings.table import Settings
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import Unreadable
from haproxy_native.features.overrides import server_state_file
from haproxy_native.text.document import Document


def findings(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield findings about whether a new worker has the overrides from its start, or gets them only afterwards."""
    try:
        document = Document.parse(config_files(settings).read())
    except Unreadable:
        return
    editor = standard_editor()
    moment = "a new worker runs for a moment without its overrides (states and weights set at runtime)"
    if (path := server_state_file.state_file_path(editor, document)) is None:
        file = Path(settings.config_file).parent / "server-state"
        remedy = f"add `server-state-file {file}` to global and `load-server-state-from-file global` to the defaults sections"
        yield DoctorFinding(NOTE, "overrides", f"no server-state file is configured, so {moment}", remedy)
        return
    if not os.access(path if path.exists() else path.parent, os.R_OK) or not os.access(path.parent, os.W_OK):
        yield DoctorFinding(
            WARNING, "overrides", f"{path} cannot be replaced, so {moment}", f"give this user write access to {path.parent}"
        )
    proxies = [section for kind in server_state_file.PROXIES for _, section in document.of_kind(kind)]
    if without := [proxy.name for proxy in proxies if not server_state_file.reads_global_file(editor, document, proxy)]:
        what = f"servers of {without[0]} and of {len(without) - 1} others" if len(without) > 1 else f"servers of {without[0]}"
        remedy = "add `load-server-state-from-file global` to their defaults section"
        yield DoctorFinding(NOTE, "overrides", f"{what} do not load their state from {path}, so {moment}", remedy)
    else:
        yield DoctorFinding(OK, "overrides", f"a new worker loads the states of its servers from {path}")
