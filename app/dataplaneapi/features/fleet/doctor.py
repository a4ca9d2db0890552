"""The findings of `dataplaneapi doctor` about a fleet: its certificates, whether its store answers, and whether the group can be joined."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dataplaneapi.doctor.finding import ERROR, NOTE, OK, WARNING, DoctorFinding
from dataplaneapi.features.fleet.settings import FleetSettings, read_fleet
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native.errors import NativeError
from haproxy_native.features.fleet.etcd import EtcdStore
from haproxy_native.features.fleet.group import HEAD
from haproxy_native.features.fleet.sealing import DecryptionFailed, Keyring
from haproxy_native.features.fleet.store import StoredValue
from haproxy_native.storage.certificate import parse_certificates

TOPIC = "fleet"
# A certificate that ends sooner is a finding.
SOON = timedelta(days=14)


def findings(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the findings; none if the server is in no fleet. Blocks for some seconds if an endpoint does not answer."""
    try:
        fleet = read_fleet(settings.fleet, settings.name)
    except SettingsError as error:
        yield DoctorFinding(ERROR, TOPIC, str(error))
        return
    if fleet is None:
        return
    certificates = {"ca_file": fleet.etcd.ca_file, "certificate": fleet.etcd.certificate}
    for member, path in certificates.items():
        try:
            ends = parse_certificates(Path(path).read_bytes()).expires if path else None
        except (OSError, NativeError) as error:
            yield DoctorFinding(ERROR, TOPIC, f"fleet.{member}: {path} cannot be read: {error}")
            continue
        now = datetime.now(UTC)
        if ends and ends <= now + SOON:
            text = f"fleet.{member}: {path} {'ended' if ends <= now else 'ends'} on {ends:%Y-%m-%d}"
            remedy = "replace the file; it is read again when a call to etcd fails"
            yield DoctorFinding(ERROR if ends <= now else WARNING, TOPIC, text, remedy)
    heads: list[StoredValue | None] = []
    errors: list[str] = []
    for endpoint in fleet.etcd.endpoints:
        try:
            heads.append(asyncio.run(_read_head(fleet, endpoint)))
        except NativeError as error:
            errors.append(str(error))
    for text in errors:
        yield DoctorFinding(WARNING if heads else ERROR, TOPIC, text, "start this member of the store, or correct fleet.endpoints")
    if not heads:
        return
    if (head := heads[0]) is None:
        remedy = "dataplaneapi ctl fleet init, on one of the nodes"
        yield DoctorFinding(NOTE, TOPIC, f"the store answers, and has no group {fleet.group}", remedy)
        return
    try:
        Keyring(fleet.group, fleet.secrets).decrypt(head.key, head.value)
    except DecryptionFailed as error:
        yield DoctorFinding(ERROR, TOPIC, str(error), "copy the key file of another node, and name it in fleet.keys")
    else:
        yield DoctorFinding(OK, TOPIC, f"the store answers, and the keys of this node decrypt the group {fleet.group}")


async def _read_head(fleet: FleetSettings, endpoint: str) -> StoredValue | None:
    """Read the head of the group from one endpoint. Return None if the store has no such group. Raises NativeError."""
    store = EtcdStore(replace(fleet.etcd, endpoints=[endpoint]))
    try:
        return await store.read(f"{fleet.path}/{HEAD}")
    finally:
        await store.close()
