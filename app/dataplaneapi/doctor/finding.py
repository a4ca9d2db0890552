"""What a check has found."""

from dataclasses import dataclass

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"


@dataclass(frozen=True)
class Finding:
    """`level` is one of the above, `part` what was looked at, `remedy` what to do."""

    level: str
    part: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.level:8}{self.part}: {self.what}" + (f"\n{'':8}{self.remedy}" if self.remedy else "")
