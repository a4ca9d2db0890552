"""Generate the kinds of objects for the command line client from the document."""

import re

from dataplaneapi.ctl.kinds import COLLECTIONS, ENTRIES, KEYWORDS
from haproxy_native.editing.object_names import kind_of
from haproxy_native.editing.resources import resources
from openapi import bundle, kinds
from tests.rules.sources import CHECKOUT


def test_every_collection_of_the_configuration_has_a_place() -> None:
    document = bundle.document()
    assert kinds.module(document) == (CHECKOUT / "app/dataplaneapi/ctl/kinds.py").read_text()
    paths = {re.sub(r"\{\w+\}", "{}", path.removeprefix(kinds.BASE)) for path, each in document["paths"].items() if "get" in each}
    assert {place.partition("?")[0] for place in COLLECTIONS.values()} <= paths
    configured = [each for each in resources().by_name.values() if not each.file and each.kind != "view"]
    assert set(KEYWORDS) == {kind_of(each) for each in configured if each.section and not each.parents}
    assert {kind.partition("/")[0] for kind in COLLECTIONS} == set(KEYWORDS)


def test_names_in_the_query_and_in_the_path() -> None:
    assert COLLECTIONS["backend/server"] == "backends/{}/servers"
    assert COLLECTIONS["resolver/nameserver"] == "nameservers?resolver={}"
    assert COLLECTIONS["global/log_target"] == "global/log_targets"


def test_paths_of_all_others_are_there() -> None:
    paths = bundle.document()["paths"]
    assert [path for path in kinds.OTHERS.values() if path not in paths] == []
    known = {re.sub(r"\{\w+\}", "{}", path) for path in paths}
    assert [path for path in kinds.AT_RUNTIME.values() if f"{kinds.RUNTIME}{path}" not in known] == []
    assert set(ENTRIES) == {"acl", "map", "stick_table"}
