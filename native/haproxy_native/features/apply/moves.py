"""What a plan changes, from what to what: it is carried out only as long as that is the same. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from haproxy_native.errors import Moved
from haproxy_native.features.apply.files import FileEffect
from haproxy_native.features.apply.owners import digest
from haproxy_native.features.apply.rules import Conflict
from haproxy_native.planning.effects import Effect

# A digest of each, by how people call it.
Moves = Mapping[str, str]
# What the running process has of objects, by their names; None where it does not have it.
Values = Mapping[str, Any]
AGAIN = "ask for a new plan"


def of_effects(effects: Iterable[Effect | FileEffect], clashes: Iterable[Conflict] = ()) -> Moves:
    """`clashes`: what others own of it, whether it is taken or not."""
    values_by_name: dict[str, list[Any]] = {}
    for effect in effects:
        values_by_name.setdefault(_name(effect), []).append([effect.old, effect.new])
    for clash in clashes:
        values_by_name.setdefault(_name(clash), []).append([[*clash.owners], clash.theirs, clash.mine])
    return {name: digest(values) for name, values in values_by_name.items()}


def _name(of: Effect | FileEffect | Conflict) -> str:
    return f"{of.member} of {of.object}" if of.member else of.object


def refuse_moved(planned: Moves, now: Moves) -> None:
    """Raises Moved where they differ, with the first that does."""
    if differing := next((object_ for object_ in [*planned, *now] if planned.get(object_) != now.get(object_)), None):
        raise Moved(f"{differing} has been changed since the plan was made, and it changes that, or left it as it was; {AGAIN}")


def refuse_moved_values(planned: Values, now: Values) -> None:
    """Raises Moved where they differ, with the first that does, and both values."""
    for object_, before in planned.items():
        if (value := now.get(object_)) == before:
            continue
        if not isinstance(before, Mapping) or not isinstance(value, Mapping):
            raise Moved(f"{object_} is not what it was in the running HAProxy when the plan was made; {AGAIN}")
        member = next(member for member in {**before, **value} if before.get(member) != value.get(member))
        old, new = before.get(member), value.get(member)
        raise Moved(f"{member} of {object_} is {new} in the running HAProxy, and was {old} when the plan was made; {AGAIN}")
