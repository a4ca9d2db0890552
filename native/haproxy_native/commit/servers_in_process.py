"""Change members of servers in the process alone, and revert such changes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from haproxy_native.commit.change import MemberChange, Outcome
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing import object_names
from haproxy_native.errors import BadValue, Conflict, NotFound, RuntimeAbsent, RuntimeRefused
from haproxy_native.planning import touches
from haproxy_native.planning.observed import OPERATIONAL
from haproxy_native.request_context import Author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.verification import Shows, holds

STATE, WEIGHT, ADDRESS, PORT = "admin_state", "weight", "address", "port"
# Members that keep the value that was set, and the health, which the next health check may change.
MEMBERS, HEALTH = (STATE, WEIGHT, ADDRESS, PORT), OPERATIONAL
# A server before and after a change.
Changes = Sequence[tuple[ServerState, ServerState]]


def object_of(state: ServerState) -> str:
    """Return the object name of a server."""
    return object_names.spelled("backend", state.backend_name, "server", state.name)


def values_of(state: ServerState) -> dict[str, object]:
    """Return the members of a server that an operator can set in the process, with their values."""
    return {STATE: state.forced_state, WEIGHT: state.uweight, ADDRESS: state.address, PORT: state.port, HEALTH: state.operational_state}


async def store_members(context: CommitContext, changes: Changes, members: Collection[str], author: Author) -> list[MemberChange]:
    """Let observers store the members that an author has set, so that they survive reloads. Return the members whose value has changed."""
    for observer in context.observers:
        await observer.store_members(changes, members, author)
    return changed_members(changes, members)


def changed_members(changes: Changes, members: Collection[str]) -> list[MemberChange]:
    """Return the members that differ between the two states of each server. `members`: the names of the members to compare."""
    found = []
    for before, after in changes:
        old, new, object_ = values_of(before), values_of(after), object_of(before)
        found += [
            MemberChange(object_, member, old[member], new[member]) for member in new if member in members and old[member] != new[member]
        ]
    return found


async def change_server(
    context: CommitContext, runtime: Runtime, before: ServerState, wanted: Mapping[str, Any], author: Author
) -> tuple[ServerState, list[MemberChange]]:
    """Set members of a server in the process alone. Return (state of the server, members whose value has changed).

    Sends commands only for members that differ, in this order: health, state, weight, address. If HAProxy refuses a command, the earlier
    ones are undone. The caller holds `process_lock`. Raises BadValue, RuntimeRefused, and RuntimeAbsent if the worker was replaced.
    """
    await commands.apply(runtime, list(commands_to_set(before, wanted)))
    after = await state_of(runtime, object_of(before))
    # Observers get every requested member, even if its value has not changed: somebody else may have set it before.
    requested = [member for member in (*MEMBERS, HEALTH) if member in wanted]
    changed = await store_members(context, [(before, after)], requested, author) if after else []
    if after is None or any(
        isinstance(command.check, Shows) and not holds(after, command.check) for command in commands_to_set(after, wanted)
    ):
        raise RuntimeAbsent(f"{runtime.address}: the worker was replaced meanwhile, and the new one does not have the change")
    return after, changed


def commands_to_set(state: ServerState, values: Mapping[str, Any]) -> Iterator[Command]:
    """Yield the commands that set members of a server, each with its undo. Members that already have their value are skipped."""

    def changed(member: str) -> Any:
        value = values.get(member)
        return None if value == getattr(state, member) else value

    backend, name = state.backend_name, state.name
    if value := changed(HEALTH):
        yield _undone_by(commands.health(backend, name, value), commands.health(backend, name, state.operational_state or "up"))
    # The forced state differs from the reported one if the server is in maintenance for another reason as well.
    if (value := values.get(STATE)) and {value} != {state.admin_state, state.forced_state}:
        yield _undone_by(commands.state(backend, name, value), commands.state(backend, name, state.forced_state))
    if (value := changed(WEIGHT)) is not None:
        yield _undone_by(commands.weight(backend, name, value), commands.weight(backend, name, state.uweight))
    if changed(ADDRESS) is not None or changed(PORT) is not None:
        command = commands.address(backend, name, values.get(ADDRESS, state.address), values.get(PORT, state.port) or None)
        with suppress(BadValue):
            command = _undone_by(command, commands.address(backend, name, state.address, state.port or None))
        yield command


def _undone_by(command: Command, undo: Command) -> Command:
    return replace(command, undo=undo.text)


async def state_of(runtime: Runtime, object_: str) -> ServerState | None:
    """Return the state of a server; None if the worker in service does not have it. Raises RuntimeFailure."""
    _, backend, _, name = object_names.parsed(object_)
    with suppress(RuntimeRefused):
        return next((server for server in await runtime.servers(backend) if server.name == name), None)
    return None


async def _existing_state(runtime: Runtime, object_: str) -> ServerState:
    """Return the state of a server. Raises NotFound if the worker in service does not have the server."""
    if (state := await state_of(runtime, object_)) is None:
        raise NotFound(f"the worker in service has no {object_}")
    return state


async def revert_servers(context: CommitContext, changed: Sequence[MemberChange], author: Author) -> Outcome | None:
    """Restore the values that members of servers had before a change. Return None if all of them have these values already.

    Raises NotFound, RuntimeFailure, and Conflict if a member was changed again after the change.
    """
    runtime = context.runtime
    # The members that do not have their old values.
    left = [member for member in changed if values_of(await _existing_state(runtime, member.object))[member.member] != member.old]
    if not left:
        return None

    async def apply() -> list[MemberChange]:
        to_revert: list[tuple[ServerState, list[MemberChange]]] = []
        for object_, group in groupby(left, lambda member: member.object):
            state, members = await _existing_state(runtime, object_), list(group)
            for member in members:
                if (value := values_of(state)[member.member]) != member.new:
                    raise Conflict(f"{member.member} of {object_} is {value} by now, not {member.new}; it is not reverted to {member.old}")
            to_revert.append((state, members))
        for state, members in to_revert:
            await commands.apply(runtime, list(commands_to_set(state, {member.member: member.old for member in members})))
        after = [(state, new) for state, _ in to_revert if (new := await state_of(runtime, object_of(state)))]
        for observer in context.observers:
            observer.members_reverted(after, author)
        return changed_members(after, [member.member for member in left])

    objects = groupby(left, lambda member: member.object)
    touched = [touches.changed(object_, (member.member for member in members)) for object_, members in objects]
    return await change_process(context, left[0].object, apply, touched, author=author)
