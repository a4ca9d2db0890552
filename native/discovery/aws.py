"""Services of the EC2 instances of one region: instances that run and whose tags tell a service and its port.

botocore, an optional extra, does the talking: credentials, signatures, pages. It blocks, so it works in a thread.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from native.discovery.services import Definition, Endpoint, Found, SourceFailed

log = logging.getLogger(__name__)
SERVICE, SERVICE_PORT, OWN_PORT = "HAProxy:Service:Name", "HAProxy:Service:Port", "HAProxy:Instance:Port"
RUNNING = [{"Name": "tag-key", "Values": [SERVICE, SERVICE_PORT]}, {"Name": "instance-state-name", "Values": ["running"]}]
CONNECTING = 5
Instance = Mapping[str, Any]


class Aws:
    """`look` asks for the instances that the allow list admits, then for those of the deny list."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.prefix = f"aws-{definition['region']}-{definition['name']}-"
        self._client: Any = None

    async def look(self) -> Found:
        """Raises SourceFailed."""
        return await asyncio.to_thread(self._look)

    async def close(self) -> None:
        if self._client:
            self._client.close()

    def _look(self) -> Found:
        try:
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            raise SourceFailed("botocore is not installed; install this server with its extra `aws`") from None
        told = self.definition
        try:
            instances = list(self._instances([*RUNNING, *_filters(told.get("allowlist", ()))]))
            denied = {each["InstanceId"] for each in self._instances(_filters(told["denylist"]))} if told.get("denylist") else set()
            return Found(services([each for each in instances if each["InstanceId"] not in denied], told["ipv4_address"]))
        except (BotoCoreError, ClientError, KeyError, TypeError, ValueError) as error:
            raise SourceFailed(f"EC2 in {told['region']}: {type(error).__name__}: {error}") from error

    def _instances(self, filters: Sequence[Mapping[str, Any]]) -> Iterator[Instance]:
        for page in self._opened().get_paginator("describe_instances").paginate(Filters=list(filters)):
            for reservation in page.get("Reservations", ()):
                yield from reservation.get("Instances", ())

    def _opened(self) -> Any:
        if self._client is None:
            from botocore.config import Config
            from botocore.session import Session

            told = self.definition
            keys = told.get("access_key_id"), told.get("secret_access_key")
            access, secret = keys if all(keys) else (None, None)
            config = Config(connect_timeout=CONNECTING, read_timeout=told["retry_timeout"], retries={"total_max_attempts": 1})
            self._client = Session().create_client(
                "ec2", region_name=told["region"], aws_access_key_id=access, aws_secret_access_key=secret, config=config
            )
        return self._client


def _filters(items: Sequence[Mapping[str, str]]) -> list[Mapping[str, Any]]:
    return [{"Name": each["key"], "Values": [each["value"]]} for each in items]


def services(instances: Sequence[Instance], address: str) -> dict[str, tuple[Endpoint, ...]]:
    """`<name>-<port>` of each service, with its instances by their private or public address; others are no servers."""
    found: dict[str, dict[Endpoint, None]] = {}
    for instance in instances:
        tags = {each["Key"]: each["Value"] for each in instance.get("Tags", ())}
        place = instance.get("PublicIpAddress" if address == "public" else "PrivateIpAddress")
        port = tags.get(OWN_PORT) or tags.get(SERVICE_PORT, "")
        if not tags.get(SERVICE) or not tags.get(SERVICE_PORT) or not place or not port.isdecimal():
            log.debug("instance %s is no server: its tags are %s, its %s address is %s", instance["InstanceId"], tags, address, place)
            continue
        found.setdefault(f"{tags[SERVICE]}-{tags[SERVICE_PORT]}", {})[Endpoint(place, int(port))] = None
    return {name: tuple(endpoints) for name, endpoints in found.items()}
