"""What a caller may do: access rules, the rights that a caller has by its roles, and rights limited by other rights.

Permissions are additive; there are no deny rules. A change is authorized by what it does (native/haproxy_native/planning/touches.py), not
by the call that requests it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from haproxy_native.editing.object_names import covers, reaches, within
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, RAW, Touch

READ, SECRETS = "read", "secrets"
VERBS = (READ, CREATE, CHANGE, DELETE, SECRETS)
ALL = "**"


@dataclass(frozen=True)
class AccessRule:
    """One permission of a role."""

    # A pattern of object names. The rule also covers what is inside such an object.
    objects: str
    # Some of VERBS.
    may: frozenset[str] = frozenset((READ,))
    # The fields that may be changed; None for all. An object can be created or deleted if the rule lists all its fields.
    fields: frozenset[str] | None = None
    # Whether the rule permits changes that need a reload.
    reloads: bool = True
    # How many objects one change may touch by this rule; None for no limit.
    most: int | None = None

    def is_about(self, touch: Touch) -> bool:
        """Return whether the rule permits the touch's verb on its object, at least for some fields."""
        return touch.verb in self.may and covers(self.objects, touch.object)


@dataclass(frozen=True)
class Rights:
    """The rights of one caller: the rules of all its roles."""

    roles: tuple[str, ...] = ()
    rules: tuple[AccessRule, ...] = field(default=(), repr=False)
    # Why the caller has no rules; empty if it has some.
    why: str = field(default="", repr=False)
    # The name of the userlist with the callers of this API. Changing it takes all rights: whoever does so can sign in as any caller.
    userlist: str = field(default="", repr=False, kw_only=True)
    # Rights that must permit everything as well, or None. The rights of a token are limited by those of its creator.
    limit: "Rights | None" = field(default=None, repr=False, kw_only=True)

    def may(self, verb: str, object_: str) -> bool:
        """Return whether a verb is permitted on a whole object, or on all objects (ALL).

        A rule for some fields permits reading all fields of the object, since a PUT has to send the other fields unchanged.
        """
        rules = (rule for rule in self.rules if verb in rule.may and (verb == READ or rule.fields is None))
        is_permitted = any(rule.objects == ALL if object_ == ALL else covers(rule.objects, object_) for rule in rules)
        return is_permitted and (self.limit is None or self.limit.may(verb, object_))

    def knows(self, object_: str) -> bool:
        """Return whether any rule covers the object, with any verb."""
        return any(covers(rule.objects, object_) for rule in self.rules) and (self.limit is None or self.limit.knows(object_))

    def reaches(self, object_: str) -> bool:
        """Return whether any rule covers the object, or something inside it."""
        return any(reaches(rule.objects, object_) for rule in self.rules) and (self.limit is None or self.limit.reaches(object_))

    def may_change_within(self, object_: str) -> bool:
        """Return whether any rule permits a change of the object, or of something inside it."""
        may = any(reaches(rule.objects, object_) and not rule.may.isdisjoint((CREATE, CHANGE, DELETE)) for rule in self.rules)
        return may and (self.limit is None or self.limit.may_change_within(object_))

    def allow(self, touch: Touch) -> bool:
        """Return whether a change that consists of only this touch is permitted, whether or not the change needs a reload."""
        may = not self._is_userlist(touch) and _cover(touch, [rule for rule in self.rules if rule.is_about(touch)])
        return may and (self.limit is None or self.limit.allow(touch))

    @property
    def are_all(self) -> bool:
        """Whether everything is permitted."""
        free = (rule.may for rule in self.rules if rule.objects == ALL and rule.fields is None and rule.reloads and rule.most is None)
        return frozenset[str]().union(*free).issuperset(VERBS) and (self.limit is None or self.limit.are_all)

    def may_read(self, object_: str) -> bool:
        return self.may(READ, object_)

    def require(self, verb: str, object_: str) -> None:
        """Raise Forbidden unless a verb is permitted on an object."""
        if not self.may(verb, object_):
            raise Forbidden(self.refusal(verb, object_))

    def refusal(self, verb: str, object_: str) -> str:
        """Return the message of `Forbidden` for a verb on an object. The message ends with a rule that would permit the verb."""
        return f"{self._who} may not {verb} {object_}; a rule that allows it: {{objects: '{object_}', may: [{verb}]}}"

    def permit(self, touched: Iterable[Touch]) -> bool:
        """Return whether a change with these touches may reload HAProxy. Without touches, return whether any change may.

        Raises Forbidden, which names the first object that may not be touched, and a rule that would permit that touch.
        """
        touched, counted = list(touched), Counter[AccessRule]()
        may_reload = any(rule.reloads and not rule.may.isdisjoint((CREATE, CHANGE, DELETE)) for rule in self.rules)
        for touch in touched:
            if self._is_userlist(touch):
                raise Forbidden(f"{self._who} may not {touch.verb} {touch.object}: the users of this API are there, which takes role admin")
            about = [rule for rule in self.rules if rule.is_about(touch)]
            # Rules with a limit are used last.
            free = sorted(
                (rule for rule in about if rule.most is None or counted[rule] < rule.most), key=lambda rule: rule.most is not None
            )
            if not _cover(touch, free):
                raise Forbidden(self._refusal_of_touch(touch, about), object_=touch.object)
            used = next(number for number in range(1, len(free) + 1) if _cover(touch, free[:number]))
            counted.update(free[:used])
            may_reload = may_reload and _cover(touch, [rule for rule in free if rule.reloads])
        return (self.limit is None or self.limit.permit(touched)) and may_reload

    def _is_userlist(self, touch: Touch) -> bool:
        """Return whether a touch concerns the userlist. Return False for a caller with all rights, who may change the userlist."""
        if not self.userlist or self.are_all:
            return False
        # If there are several sections with the userlist's name, all but the first have a number: `controller_2`.
        return within(touch.object, self.userlist) or re.match(rf"{re.escape(self.userlist)}_\d+(?:/|\Z)", touch.object) is not None

    def _refusal_of_touch(self, touch: Touch, about: Sequence[AccessRule]) -> str:
        """Return the message that a touch is not permitted. `about`: the rules that permit the touch for some fields, or up to a limit."""
        if _cover(touch, about):
            limited = next(rule for rule in about if rule.most is not None)
            return f"{self._who} may {touch.verb} {limited.most} of {limited.objects} with one change, and {touch.object} is one more"
        left = sorted(_uncovered(touch, about) - {ANY})
        fields = f", fields: [{', '.join(left)}]" if touch.verb == CHANGE and left else ""
        of = f"{', '.join(left)} of " if fields else ""
        rule = f"{{objects: {touch.object}, may: [{touch.verb}]{fields}}}"
        return f"{self._who} may not {touch.verb} {of}{touch.object}; a rule that allows it: {rule}"

    @property
    def _who(self) -> str:
        return f"role {', '.join(self.roles)}" if self.roles else "a caller without a role"


def _uncovered(touch: Touch, rules: Sequence[AccessRule]) -> frozenset[str]:
    """Return the fields of a touch that no rule covers."""
    return touch.members.difference(*(touch.members if rule.fields is None else rule.fields for rule in rules))


def _cover(touch: Touch, rules: Sequence[AccessRule]) -> bool:
    """Return whether the rules together cover all fields of a touch. All rules permit the verb of the touch."""
    return bool(rules) and not _uncovered(touch, rules)


def rights_of(roles: Iterable[tuple[str, Sequence[AccessRule]]]) -> Rights:
    """Return the rights of a caller. `roles`: the name and the rules of each of its roles."""
    by_name = dict(roles)
    return Rights(tuple(by_name), tuple(rule for rules in by_name.values() for rule in rules))


# Stored files, stick tables and routing tests.
_FILES = (
    *("map/**", "acl/**", "acl_file/**", "certificate/**", "ca_file/**", "crl_file/**"),
    *("crt_list/**", "general/**", "spoe/**", "stick_table/**", "test/**"),
)
_ACTIONS = ("operation/**", "override/**", "reload/**")
_OWNERS = "owner/*"
_RUNTIME = frozenset(("admin_state", "operational_state", "weight"))


def predefined(sections: Iterable[str]) -> dict[str, tuple[AccessRule, ...]]:
    """Return the rules of the predefined roles, by name. `sections`: the kinds of objects that are sections."""
    verbs = frozenset((READ, CREATE, CHANGE, DELETE))
    configuration = [AccessRule(pattern, verbs) for pattern in (*(f"{kind}/**" for kind in sections), *_FILES, *_ACTIONS, _OWNERS, RAW)]
    runtime_entries = [AccessRule(pattern, verbs, reloads=False) for pattern in ("map/*/entry/*", "acl/*/entry/*", *_ACTIONS[:2])]
    return {
        "viewer": (AccessRule(ALL),),
        "operator": (AccessRule(ALL), AccessRule("backend/*/server/*", frozenset((CHANGE,)), _RUNTIME, reloads=False), *runtime_entries),
        "editor": (AccessRule(ALL), *configuration),
        "admin": (AccessRule(ALL, frozenset(VERBS)),),
    }


def includes(rights: Rights, other: Rights) -> bool:
    """Return whether `rights` permit everything, or have every rule of `other`."""
    return all(rights.may(verb, ALL) for verb in VERBS) or set(other.rules) <= set(rights.rules)
