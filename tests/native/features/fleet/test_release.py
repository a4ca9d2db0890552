"""Test the state machine of releases in random worlds, and rule by rule."""

import os
from dataclasses import replace

import pytest

from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.release import CHECKED, DONE, DRIFTED, GOOD, HELD, REFUSED, Head, NodeState, Release
from tests.native.features.fleet.worlds import NAMES, World

STEPS = 400


def run_worlds(seeds: range) -> World:
    """Run a world for each seed, and return the last world. A failure names its seed."""
    for seed in seeds:
        world = World(seed)
        try:
            world.run(STEPS)
        except AssertionError as error:
            raise AssertionError(f"World({seed}).run({STEPS}): {error}") from error
    return world


def test_random_worlds() -> None:
    run_worlds(range(100))


@pytest.mark.soak
def test_many_random_worlds() -> None:
    first = int.from_bytes(os.urandom(4))
    print(f"worlds {first} to {first + 20_000}")
    run_worlds(range(first, first + 20_000))


def _joined(head: Head) -> NodeState:
    return NodeState(head, GOOD, applied=head.release.bundle)


def _done(head: Head, number: int, id_: str, text: str) -> Head:
    release = Release(number, id_, text, "", 1)
    return replace(machine.propose(head, release), state=DONE, settled=release)


FIRST = Release(1, "a", "t1", "", 1)
BEGUN = Head(FIRST, FIRST)


def _proposed(**members: object) -> Head:
    return machine.propose(BEGUN, Release(2, "b", "t2", "", 1, origin="lb9"), stages=[("lb1",), ("lb2", "lb3")], **members)


def test_a_store_that_was_set_back_is_not_followed_whatever_was_released_on_top() -> None:
    mine = _done(_done(BEGUN, 2, "b", "t2"), 3, "c", "t3")
    node, on_top = _joined(mine), BEGUN
    for number in range(2, 6):
        on_top = _done(on_top, number, f"other{number}", "t4")
    for head in (None, BEGUN, _done(BEGUN, 2, "b", "t2"), _done(_done(BEGUN, 2, "b", "t2"), 3, "x", "t3"), on_top):
        held, action = machine.decide(head, node, "lb1", "t3")
        assert (held.report.phase, action, held.head) == (HELD, machine.NOTHING, mine)
        adopted = machine.adopt(head, mine, Release(0, "new", "t3", "", 1))
        assert adopted.release.number > max(3, head.release.number if head else 0)
        follows, _ = machine.decide(adopted, held, "lb1", "t3")
        assert follows.report.phase == GOOD
    # Nodes that follow the other chain follow the adopted release as well.
    adopted = machine.adopt(on_top, mine, Release(0, "new", "t3", "", 1))
    other, action = machine.decide(adopted, _joined(on_top), "lb2", "t4")
    assert action == machine.CATCH_UP and not other.held


def test_a_node_that_a_person_holds_keeps_its_text_until_it_follows_again() -> None:
    node, newer = replace(_joined(BEGUN), kept="held by ann"), _done(BEGUN, 2, "b", "t2")
    held, action = machine.decide(newer, node, "lb1", "t1")
    assert (held.report.phase, held.report.reason, action, held.head) == (HELD, "held by ann", machine.NOTHING, BEGUN)
    assert not held.is_well and NodeState.of(held.as_dict()).kept == "held by ann"
    _, action = machine.decide(newer, replace(held, kept=""), "lb1", "t1")
    assert action == machine.CATCH_UP
    edited, _ = machine.decide(newer, replace(held, kept=""), "lb1", "mine")
    assert edited.report.phase == DRIFTED
    # A broken chain is the more important reason.
    assert "has seen 1" in machine.decide(None, node, "lb1", "t1")[0].held


def test_a_release_with_a_node_that_begins_to_hold_is_rolled_back_at_once() -> None:
    """Whoever proposed the release has not seen yet that the node holds. The node reports the release that it has followed last."""
    head = _proposed()
    held, _ = machine.decide(head, replace(_joined(BEGUN), kept="held by ann"), "lb2", "t1")
    for gate, state in ((0, machine.ROLLING), (1, machine.ROLLING), (1, machine.PAUSED)):
        back = machine.advance(replace(head, gate=gate, state=state), {"lb2": held.report}, 0.0, "c", 0.0)
        assert back and back.state == DONE and (back.release.bundle, back.reason) == ("t1", "lb2: held by ann")
    assert machine.advance(head, {"lb9": held.report}, 0.0, "c", 0.0) is None, "it is in no stage"


def test_a_node_that_has_not_joined_changes_nothing() -> None:
    assert not NodeState().is_well and _joined(BEGUN).is_well
    node, action = machine.decide(BEGUN, NodeState(), "lb1", "own")
    assert (node.report.phase, action) == (HELD, machine.NOTHING)


def test_a_plan_with_a_node_that_was_edited_is_refused_by_it() -> None:
    head = _proposed()
    node, _ = machine.decide(head, _joined(BEGUN), "lb1", "mine")
    assert (node.phase, node.reason) == (REFUSED, machine.EDITED)
    back = machine.advance(head, {"lb1": node.report}, 0.0, "c", 0.0)
    assert back and (back.release.number, back.release.bundle, back.release.reverts) == (3, "t1", 2)
    node, action = machine.decide(back, node, "lb1", "mine")
    assert (node.phase, action) == (DRIFTED, machine.NOTHING)
    # After an edit is undone, the node has no edit.
    node, _ = machine.decide(back, node, "lb1", "t1")
    assert node.phase == GOOD


def test_an_edit_to_a_text_of_a_former_release_is_an_edit() -> None:
    now = _done(BEGUN, 2, "b", "t2")
    node, action = machine.decide(now, _joined(now), "lb1", "t1")
    assert (node.phase, action) == (DRIFTED, machine.NOTHING)


def test_force_overwrites_an_edit_once() -> None:
    head = _proposed(force=True)
    node, action = machine.decide(head, _joined(BEGUN), "lb1", "mine")
    assert action == machine.CHECK
    done = replace(head, state=DONE, gate=2, settled=head.release)
    node, action = machine.decide(done, node, "lb1", "mine")
    assert action == machine.CATCH_UP
    node, action = machine.decide(done, node.become(GOOD), "lb1", "mine again")
    assert (node.phase, action) == (DRIFTED, machine.NOTHING)


def test_the_node_from_which_a_release_was_proposed_goes_back_with_it() -> None:
    back = machine.revert(_proposed(), "c", "lb1: bad", 0.0)
    for name, expected in (("lb9", machine.CATCH_UP), ("lb8", machine.NOTHING)):
        node, action = machine.decide(back, _joined(BEGUN), name, "t2")
        assert action == expected, node.report


def test_a_dry_run_ends_when_all_have_checked() -> None:
    head = _proposed(dry_run=True)
    reports = {name: replace(_joined(head), phase=CHECKED).report for name in head.staged_nodes}
    assert machine.advance(head, {**reports, "lb2": _joined(BEGUN).report}, 0.0, "c", 0.0) is None
    back = machine.advance(head, reports, 0.0, "c", 0.0)
    assert back and back.state == DONE and back.release.bundle == "t1" and back.reason == machine.ACCEPTED


@pytest.mark.parametrize(
    ("names", "stages", "expected"),
    [
        (7, [1, "25%", "100%"], [1, 1, 5]),
        (3, [1, "25%", "100%"], [1, 2]),
        (8, ["50%"], [4, 4]),
        (2, ["100%"], [2]),
        (0, [1], []),
        (2, [5, 1], [2]),
    ],
)
def test_stages(names: int, stages: list[int | str], expected: list[int]) -> None:
    given = [f"lb{number}" for number in range(names)]
    made = machine.split_into_stages(given, stages)
    assert [len(stage) for stage in made] == expected and [name for stage in made for name in stage] == given


@pytest.mark.parametrize("stage", [0, "0%", "101%", "x", "-1", "1.5", "²"])
def test_what_is_no_stage(stage: int | str) -> None:
    with pytest.raises(ValueError, match="a stage is"):
        machine.split_into_stages(NAMES, [stage])


def test_what_happens_to_a_release_and_to_a_node() -> None:
    """The node has these states in turn, and each reports these events."""
    rolling = _proposed()
    passed, paused = replace(rolling, gate=1), replace(rolling, gate=1, state=machine.PAUSED)
    done = replace(passed, state=DONE, settled=rolling.release)
    back = machine.revert(passed, "c", "lb1: bad", 0.0)
    checked = machine.advance(dry := _proposed(dry_run=True), {}, 0.0, "d", 0.0) or machine.revert(dry, "d", machine.ACCEPTED, 0.0)
    none, held = NodeState(), NodeState(held="this node has not joined")
    steps: list[tuple[NodeState, NodeState, list[str]]] = [
        (none, held, ["held"]),
        (held, replace(held, held="another reason"), []),
        (held, _joined(BEGUN), ["joined"]),
        (none, _joined(BEGUN), ["joined"]),
        (_joined(BEGUN), replace(_joined(BEGUN), held="the store has release 0"), ["held"]),
        (_joined(BEGUN), _joined(rolling), ["started"]),
        (_joined(rolling), replace(_joined(rolling), phase=CHECKED), []),
        (_joined(rolling), _joined(passed), ["gate_passed"]),
        (_joined(rolling), _joined(paused), ["gate_passed", "paused"]),
        (_joined(paused), _joined(passed), ["resumed"]),
        (_joined(passed), _joined(done), ["done"]),
        (_joined(done), _joined(done), []),
        (_joined(BEGUN), _joined(done), ["started", "done"]),
        (_joined(passed), _joined(back), ["rolled_back"]),
        (_joined(BEGUN), _joined(back), ["rolled_back"]),
        (_joined(dry), _joined(checked), ["checked"]),
    ]
    for former, node, expected in steps:
        assert machine.events_between(former, node) == expected


def test_heads_and_nodes_survive_json() -> None:
    head = _proposed(guard={"errors": 2})
    assert Head.of(head.as_dict()) == head
    node = NodeState(head, CHECKED, applied="t1", confirmation="7", held="why")
    assert NodeState.of(node.as_dict()) == node and NodeState.of(NodeState().as_dict()) == NodeState()
