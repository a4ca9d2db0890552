"""Rights that are limited by those of another caller. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from haproxy_native.access.rights import ALL, VERBS, Rights
from haproxy_native.planning.touches import Touch


@dataclass(frozen=True)
class Narrowed(Rights):
    """Permits what both its own rules and `limit` permit."""

    limit: Rights = field(default=Rights(), repr=False)

    def may(self, verb: str, object_: str) -> bool:
        return super().may(verb, object_) and self.limit.may(verb, object_)

    def knows(self, object_: str) -> bool:
        return super().knows(object_) and self.limit.knows(object_)

    def reaches(self, object_: str) -> bool:
        return super().reaches(object_) and self.limit.reaches(object_)

    def may_change_within(self, object_: str) -> bool:
        return super().may_change_within(object_) and self.limit.may_change_within(object_)

    def allow(self, touch: Touch) -> bool:
        return super().allow(touch) and self.limit.allow(touch)

    @property
    def are_all(self) -> bool:
        return super().are_all and self.limit.are_all

    def permit(self, touched: Iterable[Touch]) -> bool:
        touched = list(touched)
        may_reload = super().permit(touched)
        return self.limit.permit(touched) and may_reload


def has(rights: Rights, other: Rights) -> bool:
    """Whether each rule of `other` is one of `rights`, or these permit everything."""
    return all(rights.may(verb, ALL) for verb in VERBS) or set(other.rules) <= set(rights.rules)
