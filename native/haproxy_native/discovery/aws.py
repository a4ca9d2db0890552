"""Find the services of one EC2 region: running instances whose tags name a service and its port.

An instance of an Auto Scaling group counts only while the group reports the instance in service. So no request reaches an instance that is
about to be terminated. botocore, an optional extra, handles credentials, signatures and pages. It blocks, so it runs in a thread.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.definitions import Definition
from haproxy_native.discovery.poller import ServiceCatalog, SourceFailed

log = logging.getLogger(__name__)
SERVICE, SERVICE_PORT, OWN_PORT = "HAProxy:Service:Name", "HAProxy:Service:Port", "HAProxy:Instance:Port"
RUNNING = [{"Name": "tag-key", "Values": [SERVICE, SERVICE_PORT]}, {"Name": "instance-state-name", "Values": ["running"]}]
GROUP = "aws:autoscaling:groupName"
# The most instances that one query of Auto Scaling may name.
MOST_NAMED = 50
NOT_ALLOWED = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")
CONNECTING = 5
Instance = Mapping[str, Any]


class Aws:
    """The source for the definition of an EC2 region. Polls the allowed instances, the denied instances, and Auto Scaling groups."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.prefix = f"aws-{definition['region']}-{definition['name']}-"
        self._clients: dict[str, Any] = {}
        self._may_ask_groups = True

    async def poll(self) -> ServiceCatalog:
        """Return the services, queried in a thread. Raises SourceFailed."""
        return await asyncio.to_thread(self._poll)

    async def wait_for_change(self, seconds: float) -> None:
        # AWS reports no changes.
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _poll(self) -> ServiceCatalog:
        try:
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            raise SourceFailed("botocore is not installed; install this server with its extra `aws`") from None
        definition = self.definition
        try:
            instances = list(self._instances([*RUNNING, *_filters(definition.get("allowlist", ()))]))
            excluded = self._out_of_service(instances)
            if definition.get("denylist"):
                excluded |= {instance["InstanceId"] for instance in self._instances(_filters(definition["denylist"]))}
            included = [instance for instance in instances if instance["InstanceId"] not in excluded]
            return ServiceCatalog(services(included, definition["ipv4_address"]))
        except (BotoCoreError, ClientError, KeyError, TypeError, ValueError) as error:
            raise SourceFailed(f"AWS in {definition['region']}: {type(error).__name__}: {error}") from error

    def _instances(self, filters: Sequence[Mapping[str, Any]]) -> Iterator[Instance]:
        for page in self._client("ec2").get_paginator("describe_instances").paginate(Filters=list(filters)):
            for reservation in page.get("Reservations", ()):
                yield from reservation.get("Instances", ())

    def _out_of_service(self, instances: Sequence[Instance]) -> set[str]:
        """Return the ids of the instances whose Auto Scaling group does not report them in service and healthy.

        Return an empty set if the account has no permission to query Auto Scaling.
        """
        from botocore.exceptions import ClientError

        grouped = [instance["InstanceId"] for instance in instances if any(tag["Key"] == GROUP for tag in instance.get("Tags", ()))]
        ids: set[str] = set()
        try:
            for start in range(0, len(grouped) if self._may_ask_groups else 0, MOST_NAMED):
                answer = self._client("autoscaling").describe_auto_scaling_instances(InstanceIds=grouped[start : start + MOST_NAMED])
                ids |= {
                    member["InstanceId"]
                    for member in answer.get("AutoScalingInstances", ())
                    if (member["LifecycleState"], member["HealthStatus"].upper()) != ("InService", "HEALTHY")
                }
        except ClientError as error:
            if error.response["Error"]["Code"] not in NOT_ALLOWED:
                raise
            self._may_ask_groups = False
            log.warning("querying the state of Auto Scaling instances is not permitted, so they count as soon as they run: %s", error)
        return ids

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            from botocore.config import Config
            from botocore.session import Session

            definition = self.definition
            keys = definition.get("access_key_id"), definition.get("secret_access_key")
            access, secret = keys if all(keys) else (None, None)
            config = Config(connect_timeout=CONNECTING, read_timeout=definition["retry_timeout"], retries={"total_max_attempts": 1})
            self._clients[service] = Session().create_client(
                service, region_name=definition["region"], aws_access_key_id=access, aws_secret_access_key=secret, config=config
            )
        return self._clients[service]


def _filters(items: Sequence[Mapping[str, str]]) -> list[Mapping[str, Any]]:
    return [{"Name": item["key"], "Values": [item["value"]]} for item in items]


def services(instances: Sequence[Instance], address: str) -> dict[str, tuple[ServiceEndpoint, ...]]:
    """Return the endpoints of the instances, by service (`<name>-<port>`). Skips instances that lack a required tag or the address.

    `address`: `public` for the public addresses of the instances; any other value for their private addresses.
    """
    by_service: dict[str, dict[ServiceEndpoint, None]] = {}
    for instance in instances:
        tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
        ip = instance.get("PublicIpAddress" if address == "public" else "PrivateIpAddress")
        port = tags.get(OWN_PORT) or tags.get(SERVICE_PORT, "")
        if not tags.get(SERVICE) or not tags.get(SERVICE_PORT) or not ip or not port.isdecimal():
            log.debug("instance %s is skipped: its tags are %s, its %s address is %s", instance["InstanceId"], tags, address, ip)
            continue
        by_service.setdefault(f"{tags[SERVICE]}-{tags[SERVICE_PORT]}", {})[ServiceEndpoint(ip, int(port))] = None
    return {name: tuple(endpoints) for name, endpoints in by_service.items()}
