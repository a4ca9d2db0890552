"""Find the references to the object of a call: the error of a refused DELETE lists them, and a renaming updates them."""

from contextlib import suppress
from dataclasses import replace

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.place import place_of
from dataplaneapi.api.services import Services
from haproxy_native.access.rights import Rights
from haproxy_native.commit.change import Outcome
from haproxy_native.editing.object_names import name_of, parsed, spelled
from haproxy_native.editing.sites import FRONTEND
from haproxy_native.errors import BadRequest, InUse, Missing, NoParent, NotFound, Refused
from haproxy_native.planning.touches import changed
from haproxy_native.references.kinds import kinds
from haproxy_native.references.naming import Naming, Renaming
from haproxy_native.request_context import Author

# The most references that an error message lists.
MOST = 50


def object_of(call: Call) -> str:
    """Return the name of the object of a call, such as `backend/shop`. Return an empty text if lines cannot refer to the object by name."""
    editor, operation = call.services.editor, call.operation
    resource = editor.resources.by_name.get(operation.resource or "")
    if resource is None or resource.file:
        return ""
    place = place_of(operation, call.values, editor, one=True)
    if resource.kind == "view":
        # A site has the name of its frontend.
        place = replace(place, resource=editor.resources[FRONTEND])
    elif resource.kind == "indexed":
        return ""
    name = name_of(place)
    return name if "/".join(name.split("/")[::2]) in kinds() else ""


def _acl_of(call: Call) -> str:
    """Return the name of the ACL that a call addresses by its index. Return an empty text for any other call."""
    editor = call.services.editor
    resource = editor.resources.by_name.get(call.operation.resource or "")
    if resource is None or resource.kind != "indexed":
        return ""
    place = place_of(call.operation, call.values, editor, one=True)
    with suppress(Missing, NoParent):
        line = editor.get_object(call.document, resource, place.parent, place.key)
        name = name_of(replace(place, key=line.get("acl_name", "")))
        kind = kinds().get("/".join(name.split("/")[::2]))
        return name if kind and kind.conditions else ""
    return ""


async def uses(call: Call, object_: str) -> list[str]:
    """Return the splits and service discovery definitions that use an object; only their kinds if the caller may not read everything."""
    services = call.services
    users = [user for used_by in services.users_of_names for user in await used_by(object_)] if object_ else []
    users += services.discovery.list_uses(object_) if object_ else []
    return users if reader(call.author) is None else sorted({user.rpartition(" ")[0] for user in users})


async def refuse_used(call: Call) -> None:
    """Refuse to delete an object that a split or service discovery uses. Raises InUse."""
    object_ = object_of(call)
    if users := await uses(call, object_):
        raise InUse(f"{object_} is used by {', '.join(users)}; remove it there first")


async def add_references(call: Call, error: Refused) -> Refused:
    """Return HAProxy's refusal of a DELETE, with those references to the object appended that the caller may read."""
    if not (object_ := object_of(call) or _acl_of(call)):
        return error
    try:
        references = await Naming(call.services.engine).references(object_, call.document)
    except (BadRequest, NotFound):
        return error
    may_read = reader(call.author)
    rows = [place for place in references.places if place.object != object_ and (may_read is None or may_read(place.object))]
    if not rows:
        return error
    lines = [f"line {row.line} of {row.file}: {row.text}" for row in rows[:MOST]]
    more = [f"and {len(rows) - MOST} more"] if len(rows) > MOST else []
    return Refused("\n".join([error.detail, f"references to {object_}:", *lines, *more]), place=error.place, alerts=error.alerts)


def naming_of(services: Services) -> Naming:
    """Return a `Naming` whose renamings also update service discovery, and the data that features store under the name of an object."""
    return Naming(services.engine, [services.discovery, *services.followers])


def permit(author: Author, object_: str, to: str) -> None:
    """Raise Forbidden unless the author may change some part of the object, both under its old name and under its new name `to`.

    The commit authorizes each change.
    """
    rights = author.rights
    if isinstance(rights, Rights):
        names = (object_, spelled(*parsed(object_)[:-1], to))
        rights.permit([changed(name, ()) for name in names if not rights.may_change_within(name)])


async def renaming_of(call: Call, to: str) -> Renaming:
    """Return the change that renames the object of a call to `to` and updates all references. Raises Forbidden."""
    object_, key = object_of(call), call.services.editor.resources[call.operation.resource or ""].key
    permit(call.author, object_, to)
    return await naming_of(call.services).renaming(
        object_, to, call.document, author=call.author, transaction_id=call.transaction_id, alone=call.base is None, member=key
    )


async def rename(call: Call, renaming: Renaming) -> Outcome:
    """Commit the change of a renaming, which may have further edits."""
    return await naming_of(call.services).rename(renaming, renaming.change.reload)
