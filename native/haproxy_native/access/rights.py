"""Rules, roles and rights. Pure.

Rules add up, and nothing is forbidden by one. A change is checked by what it does (native/haproxy_native/planning/touches.py), so that it
does not matter by which call it comes.
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
    """`objects` is a pattern of names; what stands in such an object is meant as well. `may` holds some of VERBS.

    `fields` limits it to these members; an object may be created or deleted where all its members are among them. Without `reloads` it is
    for changes that need no reload. `most`: how many objects a change may touch by this rule.
    """

    objects: str
    may: frozenset[str] = frozenset((READ,))
    fields: frozenset[str] | None = None
    reloads: bool = True
    most: int | None = None

    def is_about(self, touch: Touch) -> bool:
        """True if the rule is for this verb and this object, whatever the members."""
        return touch.verb in self.may and covers(self.objects, touch.object)


@dataclass(frozen=True)
class Rights:
    """The rights of one caller: the rules of all its roles. `why`: the reason if it has none.

    `userlist`: an object that only those may touch to whom everything is allowed, whatever the rules: who changes the names and passwords
    of callers becomes any of them.
    """

    roles: tuple[str, ...] = ()
    rules: tuple[AccessRule, ...] = field(default=(), repr=False)
    why: str = field(default="", repr=False)
    userlist: str = field(default="", repr=False, kw_only=True)

    def may(self, verb: str, object_: str) -> bool:
        """Whether a verb is allowed on a whole object, or on ALL.

        A rule for some fields allows reading all, since a replacing call sends the others too.
        """
        rules = (rule for rule in self.rules if verb in rule.may and (verb == READ or rule.fields is None))
        return any(rule.objects == ALL if object_ == ALL else covers(rule.objects, object_) for rule in rules)

    def knows(self, object_: str) -> bool:
        """Whether any rule is for the object, whatever it may do with it."""
        return any(covers(rule.objects, object_) for rule in self.rules)

    def reaches(self, object_: str) -> bool:
        """Whether any rule is for the object, or for something inside it."""
        return any(reaches(rule.objects, object_) for rule in self.rules)

    def may_change_within(self, object_: str) -> bool:
        """Whether any rule allows a change of the object, or of something inside it."""
        return any(reaches(rule.objects, object_) and not rule.may.isdisjoint((CREATE, CHANGE, DELETE)) for rule in self.rules)

    def allow(self, touch: Touch) -> bool:
        """Whether they permit it by itself, with a reload or without."""
        return not self._is_of_callers(touch) and _are_enough(touch, [rule for rule in self.rules if rule.is_about(touch)])

    @property
    def are_all(self) -> bool:
        free = (rule.may for rule in self.rules if rule.objects == ALL and rule.fields is None and rule.reloads and rule.most is None)
        return frozenset[str]().union(*free).issuperset(VERBS)

    def may_read(self, object_: str) -> bool:
        return self.may(READ, object_)

    def require(self, verb: str, object_: str) -> None:
        """Raises Forbidden with the rule that would allow it."""
        if not self.may(verb, object_):
            raise Forbidden(self.refusal(verb, object_))

    def refusal(self, verb: str, object_: str) -> str:
        """The text of one, with the rule that would allow it."""
        return f"{self._who} may not {verb} {object_}; a rule that allows it: {{objects: '{object_}', may: [{verb}]}}"

    def permit(self, touched: Iterable[Touch]) -> bool:
        """Whether the change may reload HAProxy. Raises Forbidden, which names the first object that may not be touched, and the rule that
        would allow it. Who may change nothing with a reload may not reload for a change of nothing.
        """
        counted: Counter[AccessRule] = Counter()
        may_reload = any(rule.reloads and not rule.may.isdisjoint((CREATE, CHANGE, DELETE)) for rule in self.rules)
        for touch in touched:
            if self._is_of_callers(touch):
                raise Forbidden(f"{self._who} may not {touch.verb} {touch.object}: the users of this API are there, which takes role admin")
            about = [rule for rule in self.rules if rule.is_about(touch)]
            free = sorted((rule for rule in about if rule.most is None or counted[rule] < rule.most), key=_is_limited)
            if not _are_enough(touch, free):
                raise Forbidden(self._refusal(touch, about), object_=touch.object)
            used = next(number for number in range(1, len(free) + 1) if _are_enough(touch, free[:number]))
            counted.update(free[:used])
            may_reload = may_reload and _are_enough(touch, [rule for rule in free if rule.reloads])
        return may_reload

    def _is_of_callers(self, touch: Touch) -> bool:
        """Also in a further section of that name, which is numbered: `controller_2`."""
        if not self.userlist or self.are_all:
            return False
        return within(touch.object, self.userlist) or re.match(rf"{re.escape(self.userlist)}_\d+(?:/|\Z)", touch.object) is not None

    def _refusal(self, touch: Touch, about: Sequence[AccessRule]) -> str:
        if _are_enough(touch, about):
            limited = next(rule for rule in about if rule.most is not None)
            return f"{self._who} may {touch.verb} {limited.most} of {limited.objects} with one change, and {touch.object} is one more"
        left = sorted(_left(touch, about) - {ANY})
        fields = f", fields: [{', '.join(left)}]" if touch.verb == CHANGE and left else ""
        of = f"{', '.join(left)} of " if fields else ""
        rule = f"{{objects: {touch.object}, may: [{touch.verb}]{fields}}}"
        return f"{self._who} may not {touch.verb} {of}{touch.object}; a rule that allows it: {rule}"

    @property
    def _who(self) -> str:
        return f"role {', '.join(self.roles)}" if self.roles else "a caller without a role"


def _is_limited(rule: AccessRule) -> bool:
    return rule.most is not None


def _left(touch: Touch, rules: Sequence[AccessRule]) -> frozenset[str]:
    """The members that none of the rules is for."""
    return touch.members.difference(*(touch.members if rule.fields is None else rule.fields for rule in rules))


def _are_enough(touch: Touch, rules: Sequence[AccessRule]) -> bool:
    return bool(rules) and not _left(touch, rules)


def rights_of(roles: Iterable[tuple[str, Sequence[AccessRule]]]) -> Rights:
    """Returns the rights of a caller with these roles."""
    known = dict(roles)
    return Rights(tuple(known), tuple(rule for rules in known.values() for rule in rules))


# Stored files and what the running process alone holds.
_FILES = (
    *("map/**", "acl/**", "acl_file/**", "certificate/**", "ca_file/**", "crl_file/**"),
    *("crt_list/**", "general/**", "spoe/**", "stick_table/**", "test/**"),
)
_ACTIONS = ("operation/**", "override/**", "reload/**")
_OWNERS = "owner/*"
_RUNTIME = frozenset(("admin_state", "operational_state", "weight"))


def predefined(sections: Iterable[str]) -> dict[str, tuple[AccessRule, ...]]:
    """Roles that need no settings; `sections` are the kinds of those that are objects."""
    every = frozenset((READ, CREATE, CHANGE, DELETE))
    edited = [AccessRule(pattern, every) for pattern in (*(f"{kind}/**" for kind in sections), *_FILES, *_ACTIONS, _OWNERS, RAW)]
    operated = [AccessRule(pattern, every, reloads=False) for pattern in ("map/*/entry/*", "acl/*/entry/*", *_ACTIONS[:2])]
    return {
        "viewer": (AccessRule(ALL),),
        "operator": (AccessRule(ALL), AccessRule("backend/*/server/*", frozenset((CHANGE,)), _RUNTIME, reloads=False), *operated),
        "editor": (AccessRule(ALL), *edited),
        "admin": (AccessRule(ALL, frozenset(VERBS)),),
    }
