"""Call the operations that are not actions of a resource, by area, in an order in which each operation finds its objects."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.acceptance.examples import Upload
from tests.acceptance.objects import SPOE_FILE, SPOE_OBJECTS
from tests.acceptance.walk import Walk
from tests.until import until

SAMPLE = Path(__file__).parents[1] / "laws" / "sample.pem"


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
    walk.step("getSidecarTransactions")
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


def operations(walk: Walk) -> None:
    name = {"id": walk.step("startReload", after="1h").json()["id"]}
    walk.step("getOperation", name)
    walk.step("cancelOperation", name)
    drain = {"id": walk.step("createDrain", body={"targets": ["app/s1"], "timeout": "30s"}).json()["id"]}
    walk.step("getOperation", drain, wait="30s")
    walk.step("deleteOverride", {"parent_name": "app", "name": "s1"})


def apply(walk: Walk) -> None:
    declared = {"backends": [{"name": "applied", "servers": {"a": {"name": "a", "address": "127.0.0.1", "port": 9}}}]}
    walk.step("applyDeclaration", body=declared, owner="walk")
    walk.step("getOwners")
    walk.step("getDeclaration", owner="walk")
    walk.step("applyDeclaration", body={}, owner="walk")


def batch(walk: Walk) -> None:
    backends = "/v3/services/haproxy/configuration/backends"
    come = {"method": "POST", "path": backends, "body": {"name": "batched"}}
    walk.step("createBatch", body=[come, {"method": "DELETE", "path": f"{backends}/batched"}])


def history(walk: Walk) -> None:
    walk.step("createBackend", body={"name": "passing"}, version=walk.sidecar.version())
    name = {"id": walk.step("getHistory", object="backend/passing").json()[0]["id"]}
    for operation in ("getHistoryEntry", "getHistoryDiff", "getHistoryRaw"):
        walk.step(operation, name)
    walk.step("getBlame", object="backend/passing")
    walk.step("revertChange", name)
    walk.step("restoreMoment", name)
    walk.step("revertChange", name)


def naming(walk: Walk) -> None:
    walk.step("createBackend", body={"name": "former"}, version=walk.sidecar.version())
    walk.step("getReferences", object="backend/former")
    walk.step("getLint", format="json")
    walk.step("renameObject", body={"object": "backend/former", "to": "latter"})
    walk.step("deleteBackend", {"name": "latter"}, version=walk.sidecar.version())


def confirmations(walk: Walk) -> None:
    walk.step("addMapEntry", {"parent_name": "loaded.map"}, {"key": "/confirmed", "value": "1"}, force_sync=True, confirm="1h")
    name = {"id": walk.step("getConfirmations").json()[0]["id"]}
    walk.step("getConfirmation", name)
    walk.step("extendConfirmation", name, {"timeout": "2h"})
    walk.step("confirmChange", name)
    guard = {"guard": '{"errors":2,"ready":true,"min_requests":50}', "wait": "1s"}
    walk.step("deleteRuntimeMapEntry", {"parent_name": "loaded.map", "id": "/confirmed"}, force_sync=True, confirm="1h", **guard)
    walk.step("confirmChange", {"id": walk.step("getConfirmations").json()[0]["id"]})
    # Without a guard, because the calls may take longer or shorter than its first verdict.
    walk.step("addMapEntry", {"parent_name": "loaded.map"}, {"key": "/rejected", "value": "1"}, force_sync=True, confirm="1h")
    walk.step("rejectConfirmation", {"id": walk.step("getConfirmations").json()[0]["id"]})


def splits(walk: Walk) -> None:
    name = {"name": "walk"}
    walk.step("replaceSplit", name, {"by": "random", "weights": {"app": 1}}, frontend="web")
    walk.step("getSplit", name)
    walk.step("deleteSplit", name)


def questions(walk: Walk) -> None:
    walk.step("explainRequest", body={"url": "/", "host": "a", "frontend": "web"})
    walk.step("checkAccess", body={"method": "DELETE", "path": "/v3/services/haproxy/configuration/backends/app?version=1"})


def routing(walk: Walk) -> None:
    name = {"name": "walk"}
    walk.step("replaceRoutingTest", name, {"cases": [{"request": {"url": "/", "frontend": "web"}, "expect": {"status": 200}}]})
    walk.step("getRoutingTests")
    walk.step("getRoutingTest", name)
    walk.step("runRoutingTests", body={"tests": ["walk"]})
    walk.step("deleteRoutingTest", name)


def tokens(walk: Walk) -> None:
    name = {"id": walk.step("createToken", body={"role": ["viewer"], "ttl": "60s"}).json()["id"]}
    walk.step("getToken", name)
    walk.step("revokeToken", name)


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
    walk.step("planStoredFile", {"store": "maps", **name}, "a 2\n")
    walk.step("replaceStorageMapFile", name, "a 2\n")
    walk.step("deleteStorageMap", name)


def stored_acls(walk: Walk) -> None:
    name = {"name": "walk.acl"}
    walk.step("createAclFile", body=Upload("walk.acl", b"192.0.2.1\n"))
    walk.step("getOneAclFile", name)
    walk.step("replaceAclFile", name, "192.0.2.2\n")
    walk.step("deleteAclFile", name)


def loaded_maps(walk: Walk) -> None:
    name, parent = {"name": "loaded.map"}, {"parent_name": "loaded.map"}
    walk.step("getOneRuntimeMap", name)
    walk.step("addMapEntry", parent, {"key": "/c", "value": "3"})
    walk.step("showRuntimeMap", parent)
    walk.step("getRuntimeMapEntry", {**parent, "id": "/c"})
    walk.step("replaceRuntimeMapEntry", {**parent, "id": "/c"}, {"value": "4"})
    walk.step("deleteRuntimeMapEntry", {**parent, "id": "/c"})
    walk.step("addPayloadRuntimeMap", name, [{"key": "/d", "value": "5"}])
    walk.step("clearRuntimeMap", name)


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


def acme(walk: Walk) -> None:
    """Call the operations of ACME. The authority does not exist, so a renewal only begins."""
    (shown,) = walk.step("getAcmeStatus").json()
    walk.step("renewAcmeCertificate", certificate=shown["certificate"])


def aws(walk: Walk) -> None:
    body = {"name": "walk", "region": "eu-west-1", "enabled": False, "ipv4_address": "private", "retry_timeout": 10}
    name = {"id": walk.step("createAWSRegion", body=body).json()["id"]}
    walk.step("getAWSRegion", name)
    walk.step("replaceAWSRegion", name, {**body, "id": name["id"], "retry_timeout": 20})
    walk.step("deleteAWSRegion", name)


def acl_files(walk: Walk) -> None:
    found = next(each for each in walk.step("getAllRuntimeAclFiles").json() if each["storage_name"].endswith("blocked.acl"))
    file = {"parent_name": str(found["id"])}
    walk.step("getRuntimeAclFile", {"id": str(found["id"])})
    walk.step("createRuntimeAclFileEntry", file, {"value": "192.0.2.2"})
    entry = {**file, "id": walk.step("getAllRuntimeAclFileEntries", file).json()[-1]["id"]}
    walk.step("getRuntimeAclFileEntry", entry)
    walk.step("deleteRuntimeAclFileEntry", entry)
    walk.step("addPayloadRuntimeACL", {"parent_name": found["storage_name"]}, [{"value": "192.0.2.3"}])


def stick_tables(walk: Walk) -> None:
    walk.step("getStickTable", {"name": "app"})
    walk.step("setStickTableEntries", {"parent_name": "app"}, {"key": "192.0.2.1", "data_type": {"gpc0": 7}})
    walk.step("getStickTableEntries", {"parent_name": "app"})


def loaded_files(walk: Walk) -> None:
    """Call the operations on certificates, CA files and revocation lists that only the process has."""
    whole, certificate, crl = pem(), pem("CERTIFICATE"), pem("X509 CRL")
    name = {"name": "walk.pem"}
    walk.step("createCert", body=Upload("walk.pem", whole))
    walk.step("getCert", name)
    walk.step("replaceCert", name, Upload("walk.pem", whole))
    walk.step("deleteCert", name)
    walk.step("createCaFile", body=Upload("walk.pem", certificate))
    walk.step("getCaFile", name)
    walk.step("setCaFile", name, Upload("walk.pem", certificate))
    walk.step("addCaEntry", name, Upload("walk.pem", certificate))
    walk.step("getCaEntry", {**name, "index": "1"})
    walk.step("deleteCaFile", name)
    walk.step("createCrl", body=Upload("walk.pem", crl))
    walk.step("replaceCrl", name, Upload("walk.pem", crl))
    walk.step("getCrl", name)
    walk.step("deleteCrl", name)


def loaded_lists(walk: Walk) -> None:
    (found,) = (each["file"] for each in walk.step("getAllCrtLists").json())
    walk.step("getAllCrtListEntries", name=found)
    certificate = walk.step("getAllCerts").json()[0]["storage_name"]
    walk.step("addCrtListEntry", body={"file": certificate, "sni_filter": ["walk.example.com"]}, name=found)
    line = walk.step("getAllCrtListEntries", name=found).json()[-1]["line_number"]
    walk.step("deleteCrtListEntry", name=found, cert_file=certificate, line_number=line)


def stored_certificates(walk: Walk) -> None:
    name = {"name": "walk.pem"}
    walk.step("createStorageSSLCertificate", body=Upload("walk.pem", pem()))
    walk.step("getOneStorageSSLCertificate", name)
    walk.step("replaceStorageSSLCertificate", name, pem().decode())
    entry = {"file": "walk.pem", "sni_filter": ["walk.example.com"]}
    file = {"name": "walk.txt"}
    walk.step("createStorageSSLCrtListFile", body=Upload("walk.txt", b"walk.pem\n"))
    walk.step("getOneStorageSSLCrtListFile", file)
    walk.step("replaceStorageSSLCrtListFile", file, "walk.pem [alpn h2]\n")
    walk.step("createStorageSSLCrtListEntry", file, entry)
    walk.step("getStorageSSLCrtListEntries", file)
    walk.step("deleteStorageSSLCrtListEntry", file, certificate="walk.pem", line_number=2)
    walk.step("deleteStorageSSLCrtListFile", file)
    walk.step("deleteStorageSSLCertificate", name)


def pem(kind: str = "CERTIFICATE|PRIVATE KEY") -> bytes:
    """Return the parts of the sample PEM that have these kinds."""
    blocks = re.findall(rf"-----BEGIN (?:{kind})-----.*?-----END [^\n]*\n", SAMPLE.read_text(), re.DOTALL)
    return "".join(blocks).encode()


def fleet(walk: Walk) -> None:
    """Call the operations of the fleet, in a group of one node, whose releases have no stages."""
    walk.step("initFleet")
    name = {"parent_name": "app", "name": "s1"}
    server = walk.step("getServerBackend", name).json()
    walk.step("replaceServerBackend", name, {**server, "weight": 7})
    walk.step("releaseToFleet", body={"message": "more weight"})
    until(lambda: bool(walk.step("getFleet").json()["release"]["state"] == "done"))
    walk.step("adoptFleet", body={"from": "store"})
    walk.step("getFleetReleases")
    walk.step("getFleetRelease", {"number": "2"})
    walk.step("getFleetReleaseDiff", {"number": "2"})
    walk.step("replaceFleetPolicy", body={"stages": ["1", "100%"], "bake": "5m"})
    walk.step("getFleetPolicy")
    walk.step("holdFleetNode", {"name": "lb1"})
    walk.step("followFleetNode", {"name": "lb1"})
    walk.step("getFleetNodes")
    walk.step("getFleetNode", {"name": "lb1"}, diff="true")
    walk.step("getFleetHealth")


AREAS: list[Callable[[Walk], None]] = [
    fleet,
    raw,
    traces,
    transactions,
    runtime_servers,
    operations,
    splits,
    questions,
    routing,
    tokens,
    apply,
    batch,
    naming,
    acl_files,
    stick_tables,
    loaded_files,
    loaded_lists,
    maps,
    loaded_maps,
    # What they take back waits for a reload, which a confirmation does not wait for.
    history,
    confirmations,
    stored_acls,
    general_files,
    stored_certificates,
    spoe,
    acme,
    consul,
    aws,
]

# As many operations have no area of their own and are called as strangers: ending a former worker needs one. Pausing, resuming and stopping
# a release and forgetting a node need a group of several.
STRANGERS = 5
