"""Compare the bundles of two releases, or the bundle of a node with a release.

A release has its bundle in the store, but a node can read only its own bundle on disk. So a node whose bundle is that of no release stores
a `TextDifference` from the current release for the other nodes (`FleetGroup.write_drift`). It stores the differing lines instead of its
text, because the lines are few, and an edit by hand may be followed by many more. The difference is encrypted, as all values in the
store are.

The difference has the secrets of the text. The API masks them for callers that may not see secrets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from haproxy_native.commit.preview import difference_of_texts
from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.features.fleet.bundle import Bundle, FileKey, unpacked
from haproxy_native.features.fleet.group import FleetConflict, FleetGroup
from haproxy_native.features.fleet.release import PAST, Head, Release
from haproxy_native.threads import run_in_thread

# How many characters of a diff are stored and returned.
LONGEST = 512 << 10
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
Contents = tuple[bytes, Mapping[FileKey, bytes]]


@dataclass(frozen=True)
class FileDifference:
    """A stored file that only one bundle has, or that differs."""

    store: str
    name: str
    # ADDED, REMOVED or CHANGED.
    change: str


@dataclass(frozen=True)
class TextDifference:
    """The difference from a release to another bundle."""

    # The number of the release.
    since: int
    # The unified diff of the texts of haproxy.cfg; empty if they are equal.
    diff: str = field(default="", repr=False)
    # Whether the diff was cut at LONGEST.
    truncated: bool = False
    files: Sequence[FileDifference] = ()


def difference(release: Release, old: Contents, new: Contents, label: str) -> TextDifference:
    """Return the difference from the contents of a release to other contents. `label` names those in the diff. Blocks."""
    before, after = (text.decode("utf-8", "replace") for text in (old[0], new[0]))
    diff = difference_of_texts(before, after, "haproxy.cfg", (f"release {release.number}", label))
    shown = diff if len(diff) <= LONGEST else diff[: diff.rfind("\n", 0, LONGEST) + 1]
    files = []
    for key in sorted({*old[1], *new[1]}):
        if old[1].get(key) != new[1].get(key):
            files.append(FileDifference(*key, ADDED if key not in old[1] else REMOVED if key not in new[1] else CHANGED))
    return TextDifference(release.number, shown, len(shown) < len(diff), files)


async def compare_releases(group: FleetGroup, number: int, since: int | None) -> tuple[Release, TextDifference]:
    """Return a release, and the difference to it from release `since`; None for the release before it.

    Raises NotFound, BadRequest and Unusable.
    """
    head, _ = await group.head()
    release = find_release(head, number)
    if since is not None:
        return release, await _compare(group, find_release(head, since), release)
    chain = head.chain if head else []
    if (position := chain.index(release)) == 0:
        raise BadRequest(f"the group has no release before release {number}; name another one as `from`")
    return release, await _compare(group, chain[position - 1], release)


async def compare_own(group: FleetGroup, release: Release, own: Bundle, kinds: str, label: str) -> TextDifference:
    """Return the difference from a release to the bundle `own` of this node. Raises Unusable.

    `kinds` are the kinds of stored files in that bundle. `label` is the name of the node in the diff.
    """
    if own.digest == release.bundle:
        return TextDifference(release.number)
    new = unpacked(own.data) if kinds else (own.data, {})
    return await run_in_thread(difference, release, await _contents(group, release), new, label)


async def compare_other_node(group: FleetGroup, name: str, bundle: str, head: Head) -> TextDifference:
    """Return the difference from the current release to the bundle of another node, which has reported the digest `bundle`.

    Raises FleetConflict if the node has not stored the difference yet, and Unusable.
    """
    for release in reversed(head.chain):
        if release.bundle == bundle:
            return await _compare(group, head.release, release)
    stored = await group.drift(name)
    if stored is None or stored["bundle"] != bundle:
        raise FleetConflict(f"{name} has changed, and has not stored the difference yet; try again in some seconds")
    members = stored["difference"]
    return TextDifference(**{**members, "files": [FileDifference(**each) for each in members["files"]]})


async def _compare(group: FleetGroup, old: Release, new: Release) -> TextDifference:
    if old.bundle == new.bundle:
        return TextDifference(old.number)
    return await run_in_thread(difference, old, await _contents(group, old), await _contents(group, new), f"release {new.number}")


async def _contents(group: FleetGroup, release: Release) -> Contents:
    data = await group.fetch(release)
    return unpacked(data) if release.files else (data, {})


def find_release(head: Head | None, number: int) -> Release:
    """Return the release with this number, the newest one if the chain has two. Raises NotFound."""
    for release in reversed(head.chain) if head else ():
        if release.number == number:
            return release
    raise NotFound(f"there is no release {number} among the last {PAST}")
