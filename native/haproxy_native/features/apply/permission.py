"""What an owner may declare: to own a member keeps others from changing it, even where it is as declared already."""

from collections.abc import Collection, Iterator, Mapping

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import Place, kind_of, name_of, parsed, spelled, within
from haproxy_native.features.apply.files import file_object
from haproxy_native.features.apply.owners import ITSELF
from haproxy_native.planning.touches import ANY, CREATE, Touch, changed
from haproxy_native.request_context import Author, Rights

OWNER = "owner"


def permit_owner(by: Author, owner: str) -> None:
    """Raises Forbidden."""
    by.permit(changed(spelled(OWNER, owner), ()))


def permit_claims(rights: Rights | None, editor: Editor, claims: Mapping[str, Collection[str]], created: Collection[str] = ()) -> None:
    """Raises Forbidden where these rights do not permit to change what is declared. Of what is `created` the refusal says so."""
    if rights is None or rights.are_all:
        return
    for object_, members in claims.items():
        if members := set(members) - {ITSELF}:
            for touched in _of(editor, object_, members):
                made = Touch(touched.object, CREATE, touched.members)
                if not rights.allow(made):
                    rights.permit([made if any(within(object_, each) for each in created) else touched])
        elif not rights.knows(object_):
            rights.permit([changed(object_, ())])


def _of(editor: Editor, object_: str, members: Collection[str]) -> Iterator[Touch]:
    """Lists without names are members of their section in a declaration, and objects of their own for rules."""
    if file_object(object_):
        yield changed(object_, {ANY})
        return
    parts = parsed(object_)
    resource = next((each for each in editor.resources.by_name.values() if not each.parents and kind_of(each) == parts[0]), None)
    lists = dict(editor.resources.children(resource.name)) if resource and len(parts) <= 2 else {}
    for member in sorted(lists.keys() & members):
        parent = (resource, "".join(parts[1:])) if resource else None
        yield changed(name_of(Place(lists[member], parent, 0)), {ANY})
    if own := set(members) - lists.keys():
        yield changed(object_, own)
