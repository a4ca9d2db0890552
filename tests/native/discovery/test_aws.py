"""Instances as EC2 and Auto Scaling tell them, to whom signs right: a local server of their protocol, which computes signatures anew."""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

import pytest
from botocore import session

from haproxy_native.discovery.aws import Aws
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.definitions import complete_definition
from haproxy_native.discovery.poller import ServiceCatalog, SourceFailed

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1"
PAGE = 2


def instance(identity: str, name: str = "web", port: str = "80", *, state: str = "running", public: str = "", **tags: str) -> dict:
    number = identity.removeprefix("i-")
    all_tags = {"HAProxy:Service:Name": name, "HAProxy:Service:Port": port} | {key.replace("_", ":"): value for key, value in tags.items()}
    return {
        "id": identity,
        "private": f"10.0.0.{number}",
        "public": public,
        "state": state,
        "tags": {k: v for k, v in all_tags.items() if v},
    }


class Ec2(ThreadingHTTPServer):
    """`instances`, of which a page has two, `members` of groups with their states, and `failing`: what is answered 503, or 403."""

    instances: tuple[dict, ...] = ()
    members: tuple[tuple[str, str, str], ...] = ()
    failing = denied = ""


class Handler(BaseHTTPRequestHandler):
    server: Ec2

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = dict(parse_qsl(body.decode()))
        if not signed(self.headers, body):
            self.answer(403, "<Response><Errors><Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error></Errors></Response>")
        elif self.server.failing and self.server.failing in body.decode():
            self.answer(503, "<Response><Errors><Error><Code>Unavailable</Code><Message>later</Message></Error></Errors></Response>")
        elif form["Action"] == self.server.denied:
            self.answer(403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>")
        elif form["Action"] == "DescribeAutoScalingInstances":
            self.answer(200, groups(self.server.members, {value for name, value in form.items() if name.startswith("InstanceIds.")}))
        else:
            assert form["Action"] == "DescribeInstances"
            self.answer(200, page(self.server.instances, form))

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *about: object) -> None:
        pass


def page(instances: tuple[dict, ...], form: dict[str, str]) -> str:
    found = [each for each in instances if all(fits(each, *wanted) for wanted in filters(form))]
    start = int(form.get("NextToken", 0))
    more = f"<nextToken>{start + PAGE}</nextToken>" if start + PAGE < len(found) else ""
    return f"<R><reservationSet>{''.join(map(xml, found[start : start + PAGE]))}</reservationSet>{more}</R>"


def groups(members: tuple[tuple[str, str, str], ...], named: set[str]) -> str:
    rows = "".join(
        f"<member><InstanceId>{identity}</InstanceId><LifecycleState>{state}</LifecycleState><HealthStatus>{health}</HealthStatus></member>"
        for identity, state, health in members
        if identity in named
    )
    outer = "DescribeAutoScalingInstances"
    return f"<{outer}Response><{outer}Result><AutoScalingInstances>{rows}</AutoScalingInstances></{outer}Result></{outer}Response>"


def filters(form: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
    for name, value in form.items():
        if match := re.fullmatch(r"Filter\.(\d+)\.Name", name):
            yield value, {each for key, each in form.items() if key.startswith(f"Filter.{match[1]}.Value.")}


def fits(each: dict, name: str, values: set[str]) -> bool:
    if name == "tag-key":
        return bool(values & set(each["tags"]))
    return each["state"] in values if name == "instance-state-name" else each["tags"].get(name.removeprefix("tag:")) in values


def xml(each: dict) -> str:
    tags = "".join(f"<item><key>{escape(key)}</key><value>{escape(value)}</value></item>" for key, value in each["tags"].items())
    public = f"<ipAddress>{each['public']}</ipAddress>" if each["public"] else ""
    place = f"<privateIpAddress>{each['private']}</privateIpAddress>{public}"
    return f"<item><instancesSet><item><instanceId>{each['id']}</instanceId>{place}<tagSet>{tags}</tagSet></item></instancesSet></item>"


def signed(headers, body: bytes) -> bool:
    """AWS Signature Version 4, computed from the request."""
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(.+), SignedHeaders=(.+), Signature=(\w+)", headers["Authorization"])
    if not match or match[1] != KEY:
        return False
    scope, names = match[2], match[3].split(";")
    lines = [f"{name}:{' '.join(headers[name].split())}\n" for name in names]
    request = "\n".join(["POST", "/", "", "".join(lines), match[3], hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["X-Amz-Date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = b"AWS4" + SECRET.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    assert scope.split("/")[1] == REGION and scope.split("/")[2] in ("ec2", "autoscaling") and scope.split("/")[3] == "aws4_request"
    return hmac.digest(key, text.encode(), "sha256").hex() == match[4]


@pytest.fixture(scope="module")
def running() -> Iterator[Ec2]:
    with Ec2(("127.0.0.1", 0), Handler) as server, pytest.MonkeyPatch.context() as patch:
        # All clients share what botocore reads from its large files.
        patch.setattr(session, "create_loader", cache(session.create_loader))
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def ec2(running: Ec2, monkeypatch: pytest.MonkeyPatch) -> Ec2:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{running.server_port}")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    running.failing = running.denied = ""
    return running


def look(**more) -> ServiceCatalog:
    body = {"name": "n", "region": REGION, "enabled": True, "retry_timeout": 5, "ipv4_address": "private"}
    definition = complete_definition({**body, "access_key_id": KEY, "secret_access_key": SECRET, **more}, "7", consul=False)

    async def once() -> ServiceCatalog:
        source = Aws(definition)
        assert source.prefix == f"aws-{REGION}-n-"
        try:
            return await source.poll()
        finally:
            await source.close()

    return asyncio.run(once())


def test_services_over_several_pages(ec2: Ec2) -> None:
    ec2.instances = (
        instance("i-1"),
        instance("i-2", HAProxy_Instance_Port="8080"),
        instance("i-3", "api", "443", public="192.0.2.3"),
        instance("i-4", state="stopped"),
        instance("i-5", port=""),
        instance("i-6", port="http"),
        instance("i-7"),
    )
    assert look().services == {
        "web-80": (ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.2", 8080), ServiceEndpoint("10.0.0.7", 80)),
        "api-443": (ServiceEndpoint("10.0.0.3", 443),),
    }
    assert look(ipv4_address="public").services == {"api-443": (ServiceEndpoint("192.0.2.3", 443),)}


def test_lists(ec2: Ec2) -> None:
    ec2.instances = (instance("i-1", Stage="a"), instance("i-2", Stage="a", Old="1"), instance("i-3", Stage="b"))
    stage, old = {"key": "tag:Stage", "value": "a"}, {"key": "tag:Old", "value": "1"}
    assert look(allowlist=[stage]).services == {"web-80": (ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.2", 80))}
    assert look(allowlist=[stage], denylist=[old]).services == {"web-80": (ServiceEndpoint("10.0.0.1", 80),)}
    ec2.failing = "Old"
    with pytest.raises(SourceFailed, match=f"AWS in {REGION}: ClientError: .*later"):
        look(allowlist=[stage], denylist=[old])


GROUPED = {"aws_autoscaling_groupName": "g"}
MEMBERS = (("i-1", "InService", "HEALTHY"), ("i-2", "Terminating:Wait", "HEALTHY"), ("i-3", "InService", "UNHEALTHY"))


def test_a_member_of_a_group_counts_while_it_is_in_service(ec2: Ec2) -> None:
    ec2.instances = (*(instance(identity, **GROUPED) for identity in ("i-1", "i-2", "i-3")), instance("i-4"))
    ec2.members = MEMBERS
    assert look().services == {"web-80": (ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.4", 80))}
    ec2.failing = "DescribeAutoScalingInstances"
    with pytest.raises(SourceFailed, match="later"):
        look()


def test_who_may_not_ask_for_groups_takes_all_that_run(ec2: Ec2, caplog: pytest.LogCaptureFixture) -> None:
    ec2.instances, ec2.members, ec2.denied = (
        (instance("i-1", **GROUPED), instance("i-2", **GROUPED)),
        MEMBERS,
        "DescribeAutoScalingInstances",
    )
    assert look().services == {"web-80": (ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.2", 80))}
    assert "AccessDenied" in caplog.text


@pytest.mark.parametrize(
    "keys", [{"secret_access_key": "wrong"}, {"access_key_id": "other"}, {"access_key_id": "", "secret_access_key": ""}]
)
def test_credentials(ec2: Ec2, keys: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a whole key they are sought as usual, here in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    ec2.instances = (instance("i-1"),)
    if all(keys.values()):
        with pytest.raises(SourceFailed, match="SignatureDoesNotMatch"):
            look(**keys)
    else:
        assert set(look(**keys).services) == {"web-80"}


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:9")
    with pytest.raises(SourceFailed, match="EndpointConnectionError"):
        look()
