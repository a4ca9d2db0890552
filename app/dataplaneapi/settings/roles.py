"""Parse the roles and their assignment to callers: the members `roles`, `role_of` and `user` of the settings file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from haproxy_native.access.rights import VERBS, AccessRule, Rights, predefined, rights_of
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import kind_of, spelled

EXAMPLE = "{objects: backend/shop_*/server/*, fields: [weight, maintenance], may: [read, change], reload: never, max_objects: 5}"
USERS, CERTIFICATES, SPIFFE, CLAIMS = "users", "certificates", "spiffe", "claims"
_MEMBERS = {"objects": str, "may": list, "fields": list, "reload": str, "max_objects": int}
_RELOADS = {"any": True, "never": False}


class WrongRoles(ValueError):
    """Raised if the roles in the settings are invalid. The message names the member and what it expects."""


@dataclass(frozen=True)
class Roles:
    """The rules of all roles, and the roles of all callers."""

    # The rules of a role by its name.
    rules: Mapping[str, Sequence[AccessRule]]
    # The names of the roles of a caller, by its group (such as USERS) and its name. A name may end with `*`, which matches any ending.
    owners: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    # The name of the userlist with the users of this API, if it is in the configuration of HAProxy. Else empty.
    userlist: str = ""

    def rights(self, group: str, *names: str) -> Rights:
        """Return the permissions of a caller that has these names in a group. A caller without a role is permitted nothing."""
        role_names: list[str] = []
        for pattern, roles in self.owners.get(group, {}).items():
            # An empty name matches no pattern.
            if any(name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for name in names if name):
                role_names += roles
        return self.of(role_names)

    def of(self, names: Iterable[str]) -> Rights:
        """Return the combined permissions of roles. Ignore unknown names."""
        return replace(rights_of((name, self.rules[name]) for name in names if name in self.rules), userlist=self.userlist)


def read_roles(
    roles: Mapping[str, Any], role_of: Mapping[str, Any], users: Sequence[Mapping[str, Any]], userlist: str = ""
) -> Roles | None:
    """Parse the roles. Return None if the settings have none. Raises WrongRoles, also if nobody has the role admin.

    If `users` is empty, the users of this API are in the section `userlist`.
    """
    if not roles and not role_of and not any("role" in user for user in users):
        return None
    sections = [kind_of(resource) for resource in standard_editor().resources.by_name.values() if resource.section and not resource.parents]
    rules: dict[str, Sequence[AccessRule]] = dict(predefined(sections))
    for name, given in roles.items():
        if name in rules:
            raise WrongRoles(f"roles: {name} is predefined; choose another name")
        if not isinstance(given, list):
            raise WrongRoles(f"roles: {name} must be a list of rules, as in {EXAMPLE}")
        rules[str(name)] = [_parse_rule(str(name), rule) for rule in given]
    owners = {group: _parse_owners(f"role_of: {group}", role_of.get(group) or {}, rules) for group in (USERS, CERTIFICATES, SPIFFE, CLAIMS)}
    if unknown := next((group for group in role_of if group not in owners), None):
        raise WrongRoles(f"role_of: unknown group {unknown}; expected one of {', '.join(owners)}")
    owners[USERS] |= _parse_owners("user", {str(user.get("name", "")): user["role"] for user in users if "role" in user}, rules)
    if not any("admin" in names for group in owners.values() for names in group.values()):
        raise WrongRoles("role_of: nobody has the role admin; assign it to at least one user, as in role: admin")
    return Roles(rules, owners, spelled("userlist", userlist) if userlist and not users else "")


def _parse_rule(role: str, given: Any) -> AccessRule:
    if not isinstance(given, Mapping):
        raise WrongRoles(f"roles: {role}: a rule must be a map, as in {EXAMPLE}")
    for name, value in given.items():
        if name not in _MEMBERS:
            raise WrongRoles(f"roles: {role}: unknown key {str(name)[:40]!r} in a rule; expected one of {', '.join(_MEMBERS)}")
        if not isinstance(value, _MEMBERS[name]) or isinstance(value, bool):
            raise WrongRoles(f"roles: {role}: {name} must be as in {EXAMPLE}")
    may = [str(verb) for verb in given.get("may", ["read"])]
    if unknown := next((verb for verb in may if verb not in VERBS), None):
        raise WrongRoles(f"roles: {role}: unknown verb {unknown[:40]!r} in may; expected one of {', '.join(VERBS)}")
    if not given.get("objects"):
        raise WrongRoles(f"roles: {role}: a rule must have objects, as in {EXAMPLE}")
    if (reload := given.get("reload", "any")) not in _RELOADS:
        raise WrongRoles(f"roles: {role}: reload must be any or never, not {reload[:40]!r}")
    if (most := given.get("max_objects")) is not None and most < 1:
        raise WrongRoles(f"roles: {role}: max_objects must be at least 1")
    fields = frozenset(map(str, given["fields"])) if "fields" in given else None
    return AccessRule(given["objects"], frozenset(may), fields, _RELOADS[reload], most)


def _parse_owners(place: str, given: Any, rules: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    if not isinstance(given, Mapping):
        raise WrongRoles(f"{place} must be a map of names to roles")
    owned = {str(name): [roles] if isinstance(roles, str) else roles for name, roles in given.items()}
    for name, roles in owned.items():
        if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
            raise WrongRoles(f"{place}: {name} must have a role or a list of roles")
        if unknown := next((role for role in roles if role not in rules), None):
            raise WrongRoles(f"{place}: unknown role {unknown!r} of {name}; expected one of {', '.join(rules)}")
    return owned
