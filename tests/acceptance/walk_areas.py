"""The operations that are not regular, area by area, each in an order in which it has something to act on."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.acceptance.objects import SPOE_FILE, SPOE_OBJECTS
from tests.acceptance.walk import Upload, Walk


def raw(walk: Walk) -> None:
    text = walk.step("getHAProxyConfiguration").text
    walk.step("postHAProxyConfiguration", body=text)
    walk.step("planConfiguration", body=text)
    walk.step("getConfigurationVersion")


def traces(walk: Walk) -> None:
    entry = {"trace": "h2 sink stderr"}
    walk.step("createTraceEntry", body=entry)
    walk.step("deleteTraceEntry", body=entry)


def transactions(walk: Walk) -> None:
    dropped, committed = (_id(walk, "startTransaction", version=walk.sidecar.version()) for _ in range(2))
    walk.step("getTransactions")
    walk.step("getTransaction", dropped)
    walk.step("deleteTransaction", dropped)
    reload = walk.step("commitTransaction", committed).headers["Reload-Id"]
    walk.step("getReloads")
    walk.step("getReload", {"id": reload})
    walk.step("getReloadRecord", {"id": reload})


def _id(walk: Walk, operation: str, names: Mapping[str, str] = {}, **query: Any) -> dict[str, str]:
    return {**names, "id": walk.step(operation, names, **query).json()["id"]}


def runtime_servers(walk: Walk) -> None:
    walk.step("getAllRuntimeServer", {"parent_name": "app"})
    walk.step("getRuntimeServer", {"parent_name": "app", "name": "s1"})
    added = {"parent_name": "app", "name": "live"}
    walk.step("addRuntimeServer", {"parent_name": "app"}, {"name": "live", "address": "127.0.0.1", "port": 9})
    walk.step("replaceRuntimeServer", added, {"admin_state": "maint"})
    walk.step("deleteRuntimeServer", added)


def spoe(walk: Walk) -> None:
    file, scope = {"parent_name": "walk.spoe"}, {"parent_name": "walk.spoe", "scope_name": "[two]"}
    walk.step("createSpoe", body=Upload("walk.spoe", SPOE_FILE))
    walk.step("getOneSpoeFile", {"name": "walk.spoe"})

    def version() -> Any:
        return walk.step("getSpoeConfigurationVersion", file).json()

    walk.step("createSpoeScope", file, "[two]", version=version())
    walk.step("getAllSpoeScope", file)
    walk.step("getSpoeScope", {**file, "name": "[two]"})
    for word, body in SPOE_OBJECTS.items():
        name = {**scope, "name": body["name"]}
        walk.step(f"createSpoe{word}", scope, body, version=version())
        walk.step(f"getAllSpoe{word}", scope)
        walk.step(f"getSpoe{word}", name)
        walk.step(f"replaceSpoe{word}", name, body, version=version())
        walk.step(f"deleteSpoe{word}", name, version=version())
    walk.step("deleteSpoeScope", {**file, "name": "[two]"}, version=version())
    dropped, committed = (_id(walk, "startSpoeTransaction", file, version=version()) for _ in range(2))
    walk.step("getAllSpoeTransaction", file)
    walk.step("getSpoeTransaction", dropped)
    walk.step("deleteSpoeTransaction", dropped)
    walk.step("commitSpoeTransaction", committed)
    walk.step("deleteSpoeFile", {"name": "walk.spoe"})


def maps(walk: Walk) -> None:
    name = {"name": "walk.map"}
    walk.step("createStorageMapFile", body=Upload("walk.map", b"a 1\n"))
    walk.step("getAllStorageMapFiles")
    walk.step("getOneStorageMap", name)
    walk.step("replaceStorageMapFile", name, "a 2\n")
    walk.step("deleteStorageMap", name)


def general_files(walk: Walk) -> None:
    name = {"name": "walk.txt"}
    walk.step("createStorageGeneralFile", body=Upload("walk.txt", b"one"))
    walk.step("getAllStorageGeneralFiles")
    walk.step("getOneStorageGeneralFile", name)
    walk.step("replaceStorageGeneralFile", name, Upload("walk.txt", b"two"))
    walk.step("deleteStorageGeneralFile", name)


def consul(walk: Walk) -> None:
    body = {"address": "127.0.0.1", "port": 1, "enabled": False, "retry_timeout": 10}
    name = {"id": walk.step("createConsul", body=body).json()["id"]}
    walk.step("getConsul", name)
    walk.step("replaceConsul", name, {**body, "id": name["id"], "retry_timeout": 20})
    walk.step("deleteConsul", name)


AREAS: list[Callable[[Walk], None]] = [raw, traces, transactions, runtime_servers, spoe, maps, general_files, consul]

# As many operations have no area of their own and are called as strangers; may only shrink.
STRANGERS = 60
