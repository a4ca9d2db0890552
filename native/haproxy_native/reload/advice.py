"""What the reloads that are remembered were for, added up, with the edit that would end each kind. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from haproxy_native.reload.records import Record


@dataclass(frozen=True)
class Advice:
    """One kind of cause: the share of the reloads that had it in percent, and of those how many and the last one's first reason.

    `remedy` is empty where no edit would have saved them.
    """

    share: int
    reloads: int
    cause: str
    remedy: str
    last: str
    reason: Mapping[str, Any]


def advise(records: Iterable[Record]) -> tuple[int, list[Advice]]:
    """How many reloads had reasons, and their causes, the most frequent first; a reload may have several.

    What one edit would end is one cause, and what no edit would is one by its keyword, since words of reasons hold names.
    """
    kinds: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    counted = [record for record in records if record.reasons]
    for record in counted:
        for reason in record.reasons:
            keyword, remedy = str(reason.get("keyword", "")), str(reason.get("remedy", ""))
            kinds[keyword or ("" if remedy else str(reason["reason"])), remedy].setdefault(record.id, reason)
    rows = [_advice(remedy, reloads, len(counted)) for (_, remedy), reloads in kinds.items()]
    return len(counted), sorted(rows, key=lambda advice: -advice.reloads)


def _advice(remedy: str, reloads: Mapping[str, Mapping[str, Any]], of: int) -> Advice:
    last, reason = list(reloads.items())[-1]
    return Advice(round(100 * len(reloads) / of), len(reloads), _cause(reason), remedy, last, reason)


def _cause(reason: Mapping[str, Any]) -> str:
    """The last reason itself where an edit would end it, else what all have in common."""
    if reason.get("remedy"):
        return f"{reason['keyword']}: {reason['reason']}" if reason.get("keyword") else str(reason["reason"])
    return f"{reason['keyword']} lines" if reason.get("keyword") else str(reason["reason"])
