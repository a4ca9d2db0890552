"""A finding of the doctor. A module of its own, since the `doctor` modules of features import it as well."""

from dataclasses import dataclass

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"


@dataclass(frozen=True)
class DoctorFinding:
    """What a check has found."""

    # One of the levels above.
    level: str
    # What was checked.
    part: str
    what: str
    # What to do.
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.level:8}{self.part}: {self.what}" + (f"\n{'':8}{self.remedy}" if self.remedy else "")
