"""A change made on an old document, made on a later one: merged where both sides have changed other members. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.places import kind_of
from haproxy_native.errors import Clash, Collided, Conflict, NativeError
from haproxy_native.planning.effects import Effect, effects, is_expressible, with_effects
from haproxy_native.planning.merging import by_lines
from haproxy_native.planning.touches import is_shown
from haproxy_native.text.document import Document
from haproxy_native.text.merge import Collision

# An object and a member of it; without a member the object comes or goes.
Unit = tuple[str, str]
Units = Mapping[Unit, Sequence[Effect]]


def merged_onto(editor: Editor, base: Document, theirs: Document, mine: Document) -> Document:
    """`theirs` with what differs between `base` and `mine`. Raises Collided with both sides, and Conflict where no object shows them.

    A list without names, such as that of rules, is one member: where in it a row belongs is not known once another has come or gone.
    """
    ours = effects(editor, base, mine)
    sides = Sides(editor, theirs, mine, _by_unit(editor, ours), _by_unit(editor, effects(editor, base, theirs)))
    if clashes := tuple(sides.clashes()):
        raise Collided(_text(clashes), clashes=clashes)
    left = [effect for unit, unit_effects in sides.ours.items() if unit not in sides.others for effect in unit_effects]
    with suppress(Collision):
        document = by_lines(theirs, before=mine, after=base)
        if _counted(effects(editor, theirs, document)) == _counted(left):
            return document
    # By lines they cannot be merged, or some would come to stand where they say something else.
    if not all(map(is_expressible, left)) or not is_shown(editor, base, mine, ours):
        raise Conflict("lines of this change have no members that could be merged into what came between")
    return with_effects(editor, theirs, left)


@dataclass(frozen=True)
class Sides:
    """What came between, and this change: the documents, and the effects of each since their base."""

    editor: Editor
    theirs: Document
    mine: Document
    ours: Units
    others: Units

    def clashes(self) -> Iterator[Clash]:
        for unit, unit_effects in self.ours.items():
            if unit in self.others:
                if _counted(unit_effects) != _counted(self.others[unit]):
                    yield self._clash_of_member(unit)
            elif above := next((other for other in self.others if not other[1] and _is_in(unit[0], other[0])), None):
                yield self._clash_of_object(above, self.others[above][0])
            elif not unit[1] and any(_is_in(other[0], unit[0]) for other in self.others):
                yield self._clash_of_object(unit, unit_effects[0])

    def _clash_of_member(self, unit: Unit) -> Clash:
        effect = self.others[unit][0]
        if effect.place.resource.kind == "indexed":
            return Clash(*unit, *(self._rows(side, effect) for side in (self.theirs, self.mine)))
        return Clash(*unit, effect.new, self.ours[unit][0].new)

    def _clash_of_object(self, unit: Unit, effect: Effect) -> Clash:
        """One side removes or adds an object of which the other changes a part."""
        return Clash(*unit, *(self._object(side, effect) for side in (self.theirs, self.mine)))

    def _rows(self, document: Document, effect: Effect) -> Any:
        return self.editor.list_objects(document, effect.place.resource, effect.place.parent)

    def _object(self, document: Document, effect: Effect) -> Any:
        place = effect.place
        try:
            return self.editor.get_object(document, place.resource, place.parent, place.key, full=place.parent is None)
        except NativeError:
            return None


def _by_unit(editor: Editor, found: Iterable[Effect]) -> Units:
    units: dict[Unit, list[Effect]] = {}
    for effect in found:
        units.setdefault(unit_of(editor, effect), []).append(effect)
    return units


def unit_of(editor: Editor, effect: Effect) -> Unit:
    """What two changes collide in: the member of an object, an object that comes or goes, or a whole list without names."""
    place = effect.place
    if place.resource.kind != "indexed" or place.parent is None:
        return effect.object, effect.member
    above, name = place.parent
    member = next(resource for resource, child in editor.resources.children(above.name) if child.name == place.resource.name)
    return spelled(kind_of(above), name).rstrip("/"), member


def _is_in(object_: str, other: str) -> bool:
    return object_ == other or object_.startswith(f"{other}/")


def _counted(found: Iterable[Effect]) -> Counter[str]:
    return Counter(json.dumps(effect.as_dict(), sort_keys=True) for effect in found)


def _text(clashes: Sequence[Clash]) -> str:
    first = clashes[0]
    what = f"{first.member} of {first.object}" if first.member else first.object
    more = f", and {len(clashes) - 1} more" if len(clashes) > 1 else ""
    return f"{what} was changed by what came between as well{more}"
