"""Define a finding of the doctor. Features that have a `doctor` module import it as well."""

from dataclasses import dataclass

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"


@dataclass(frozen=True)
class DoctorFinding:
    """The result of a check of the doctor: a problem and its remedy, or a statement that all is well."""

    # OK, NOTE, WARNING or ERROR.
    level: str
    # The part of the installation that was checked, such as `users`.
    part: str
    what: str
    # How to fix it. Empty if there is nothing to do.
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.level:8}{self.part}: {self.what}" + (f"\n{'':8}{self.remedy}" if self.remedy else "")
