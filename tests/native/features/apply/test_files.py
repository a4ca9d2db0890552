"""Plan declared files, and check a law: entries and files that others own or have written stay after any declaration."""

import random
from dataclasses import dataclass, field

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.features.apply.files import (
    COLLECTIONS,
    PlannedFiles,
    declared_parts,
    entries_of,
    entry_object,
    file_object,
    lines_of,
    new_content,
    parts,
    plan_files,
)
from haproxy_native.features.apply.owners import ITSELF, Owners
from haproxy_native.features.apply.rules import Declaration, DeclaredFile, Rules
from haproxy_native.request_context import NOBODY

HOSTS, PAGE, PEM = "map/hosts.map", "general/page", "certificate/x.pem"
Contents = dict[str, bytes | None]


@dataclass
class Site:
    """Files with their owners."""

    contents: Contents = field(default_factory=lambda: dict.fromkeys((HOSTS, PAGE, PEM)))
    owners: Owners = field(default_factory=Owners)

    def apply(self, owner: str, files: dict[str, DeclaredFile], **how: bool) -> tuple[Rules, PlannedFiles]:
        rules = Rules(self.owners, Declaration(owner, {}, files, **how, author=NOBODY))
        found = plan_files(rules, self.contents)
        if not rules.conflicts:
            self.contents, self.owners = {**self.contents, **found.contents}, rules.owners_after
        return rules, found


def entries(**values: str) -> DeclaredFile:
    return DeclaredFile(entries=values)


def test_a_map_is_owned_entry_by_entry() -> None:
    site = Site({HOSTS: b"# mine\nhand 1\n"})
    _, found = site.apply("a", {HOSTS: entries(x="1", y="2")})
    assert site.contents[HOSTS] == b"# mine\nhand 1\nx 1\ny 2\n"
    assert [each.object for each in found.shown] == [f"{HOSTS}/entry/x", f"{HOSTS}/entry/y"]
    assert site.apply("a", {HOSTS: entries(x="1", y="2")})[1].contents == {}
    site.apply("a", {HOSTS: entries(x="3")})
    assert site.contents[HOSTS] == b"# mine\nhand 1\nx 3\n"
    site.apply("a", {})
    assert site.contents[HOSTS] == b"# mine\nhand 1\n", "what others have written keeps the file"


def test_a_map_comes_and_goes() -> None:
    site = Site()
    _, found = site.apply("a", {HOSTS: DeclaredFile(b"# sent\nx 1\n", {"x": "1"})})
    assert site.contents[HOSTS] == b"# sent\nx 1\n" and [each.object for each in found.shown] == [HOSTS]
    _, found = site.apply("a", {})
    assert site.contents[HOSTS] is None and [each.object for each in found.shown] == [HOSTS]
    site.apply("a", {HOSTS: entries()})
    assert site.contents[HOSTS] == b""


def test_other_files_are_owned_whole() -> None:
    site = Site()
    site.apply("a", {PAGE: DeclaredFile(b"one")})
    assert site.apply("b", {PAGE: DeclaredFile(b"one")})[0].conflicts == []
    assert [each.owners for each in site.apply("b", {PAGE: DeclaredFile(b"two")})[0].conflicts] == [["a"]]
    site.apply("b", {})
    assert site.contents[PAGE] == b"one"
    site.contents[PAGE] = b"by hand"
    assert [(each.owners, each.theirs) for each in site.apply("a", {})[0].conflicts] == [(["outside"], b"by hand")]
    assert [each.object for each in site.apply("a", {}, force=True)[0].overruled] == [PAGE] and site.contents[PAGE] is None


def test_without_pruning() -> None:
    site = Site()
    site.apply("a", {HOSTS: entries(x="1"), PAGE: DeclaredFile(b"one")})
    site.apply("a", {}, prune=False)
    assert site.contents == {HOSTS: b"x 1\n", PAGE: b"one", PEM: None}
    site.apply("a", {})
    assert site.contents == dict.fromkeys((HOSTS, PAGE, PEM))


@pytest.mark.parametrize(
    ("object_", "file"),
    [(HOSTS, HOSTS), (f"{HOSTS}/entry/a%2Fb", HOSTS), ("backend/shop", ""), ("global", ""), (PEM, PEM), ("maps/x", "")],
)
def test_the_file_of_an_object(object_: str, file: str) -> None:
    assert file_object(object_) == file and set(COLLECTIONS) == {"map", "certificate", "general", "crt_list", "acl_file"}


def test_equal_keys_and_keys_with_a_slash() -> None:
    content = b"a/b 1\na/b 2\n"
    assert entries_of(content) == {"a/b": "1"}
    wanted = declared_parts(HOSTS, DeclaredFile(entries={"a/b": "3"}))
    assert new_content(HOSTS, content, None, wanted) == b"a/b 3\na/b 3\n"
    more = declared_parts(HOSTS, DeclaredFile(entries={"a/b": "1", "c": "4"}))
    assert new_content(HOSTS, content, None, more) == b"a/b 1\na/b 2\nc 4\n", "what has its value stays as it is"
    sent = declared_parts(HOSTS, DeclaredFile(content, entries_of(content)))
    assert new_content(HOSTS, None, content, sent) == content
    with pytest.raises(BadValue, match="cannot contain the key"):
        new_content(HOSTS, None, None, declared_parts(HOSTS, DeclaredFile(entries={"a b": "3"})))


# -- the law


def declaration(chance: random.Random) -> dict[str, DeclaredFile]:
    found = {}
    if chance.random() < 0.8:
        found[HOSTS] = DeclaredFile(entries={key: chance.choice("123") for key in chance.sample("pqrst", chance.randint(0, 4))})
    for name in (PAGE, PEM):
        if chance.random() < 0.5:
            found[name] = DeclaredFile(chance.choice([b"one", b"two"]))
    return found


def hand_edit(chance: random.Random, contents: Contents) -> None:
    lines = (contents[HOSTS] or b"").decode().splitlines()
    match chance.randrange(4):
        case 0:
            lines.append(f"h{chance.randrange(4)} 7")
        case 1 if lines:
            del lines[chance.randrange(len(lines))]
        case 2 if lines:
            place = chance.randrange(len(lines))
            lines[place] = f"{lines[place].split()[0]} 77"
        case _:
            contents[chance.choice([PAGE, PEM])] = chance.choice([None, b"by hand"])
    contents[HOSTS] = "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()


def values(contents: Contents) -> dict[tuple[str, str], object]:
    found: dict[tuple[str, str], object] = {}
    for object_, content in contents.items():
        for name, members in parts(object_, content).items():
            found |= {(name, member): value for member, value in {ITSELF: "", **members}.items()}
    return found


@pytest.mark.parametrize("number", [400, pytest.param(5000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("seed", range(3))
def test_what_others_own_stays(seed: int, number: int) -> None:
    chance, site, done = random.Random(seed), Site(), 0
    for step in range(number):
        owner = chance.choice(["one", "two", "three"])
        if chance.random() < 0.15:
            hand_edit(chance, site.contents)
        before, owners, files = values(site.contents), site.owners, declaration(chance)
        rules, _ = site.apply(owner, files)
        after = values(site.contents)
        if rules.conflicts:
            assert after == before
            continue
        done += 1
        for other, claims in owners.claims.items():
            for object_, held in claims.items():
                for member in held if other != owner else ():
                    assert before.get((object_, member)) == after.get((object_, member)), (seed, step, other, object_, member)
        own = owners.claims_of(owner)
        for (object_, member), value in before.items():
            is_own = member in own.get(object_, {})
            assert is_own or after.get((object_, member)) == value, (seed, step, object_, member)
        wanted = {object_: declared_parts(object_, each) for object_, each in files.items()}
        for named in wanted.values():
            assert all(after[name, member] == value for name, members in named.items() for member, value in members.items()), (seed, step)
        assert site.apply(owner, files)[1].contents == {}, "once more changes nothing"
    assert done > number / 10


def test_lines_of_entries() -> None:
    content = b"# by hand\n\na 1\r\nb/c 2\na 3\n\xff 4\n"
    lines = {"map/x.map/entry/a": 3, "map/x.map/entry/b%2Fc": 4, entry_object("map/x.map", "\udcff"): 6}
    assert lines_of("map/x.map", content) == lines
