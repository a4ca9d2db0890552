"""Plans for stored files: from what is loaded, steps that apply a file live or the reasons for a reload. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haproxy_native.editing.file_references import Reference
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.runtime.commands import Step
from haproxy_native.storage.tls_steps import CertificateSeen, CertificateStep


def by_reload(used: Sequence[Reference], wanted: Sequence[Reference], why: str) -> FilePlan:
    """Plans a reload for what HAProxy reads only at its start.

    `used` are the lines that refer to it in the running text, `wanted` in the committed one.
    """
    reasons = [Reason(place.section, place.line, place.keyword, why) for place in used[:1]]
    return FilePlan((), reasons, bool(used), bool(wanted))


def loaded_anew(used: Sequence[Reference], wanted: Sequence[Reference], why: str) -> FilePlan:
    """The same for what the worker has loaded, even if nothing in the file refers to it."""
    plan = by_reload(used, wanted, why)
    return plan if plan.used else replace(plan, used=True, reasons=[Reason("", 0, "", why)])


@dataclass(frozen=True)
class InProcess:
    """What HAProxy has of a certificate file: the `names` it has for it, whether one is `used`, the `directories` with it that are
    lists, whether it is also the file of an `authority` or of revoked certificates, and a file `beside` it that is read along.
    """

    names: Sequence[str] = ()
    used: bool = False
    directories: Sequence[str] = ()
    authority: bool = False
    beside: str = ""

    @property
    def is_served(self) -> bool:
        return bool(self.names and self.used) or bool(self.directories)


def certificate_plan(path: Path, loaded: InProcess, used: Sequence[Reference], wanted: Sequence[Reference]) -> FilePlan:
    """Live wherever HAProxy serves it; nothing where it has it in memory only."""
    if loaded.authority:
        return loaded_anew(used, wanted, f"HAProxy verifies others with {path.name} too")
    if not loaded.is_served:
        return by_reload(used, wanted, f"HAProxy has not loaded {path.name}, though its configuration refers to it")
    if loaded.beside:
        return loaded_anew(used, wanted, f"HAProxy reads {loaded.beside} at its start only")
    seen = [CertificateSeen(path, loaded.names)] if loaded.names else []
    return FilePlan([CertificateStep(path, loaded.names, loaded.directories)], (), True, bool(wanted), seen)


def crt_list_plan(steps: Sequence[Step], obstacle: str, used: Sequence[Reference], wanted: Sequence[Reference]) -> FilePlan:
    """Live where HAProxy has loaded the list, and nothing stands in the way."""
    if steps:
        return loaded_anew(used, wanted, obstacle) if obstacle else FilePlan(steps, (), True, bool(wanted))
    return by_reload(used, wanted, "HAProxy has not loaded the list, though its configuration refers to it")
