"""The stream of events, over a restart of the server as well."""

from pathlib import Path

from dataplaneapi.ctl import contexts
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.commands import watch
from tests.acceptance.quick import Quick
from tests.app.ctl.calls import config
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import USER


def test_a_stream_that_breaks_off_goes_on(tmp_path: Path) -> None:
    with HAProxy(tmp_path, config()) as haproxy, Quick(haproxy) as sidecar:
        client = Client(contexts.Context("", {"url": f"http://127.0.0.1:{sidecar.port}", "user": USER[0], "password": USER[1]}))
        found = watch.event_stream(client, {"types": "config", "snapshot": True})
        assert next(found)["type"] == "snapshot"
        sidecar.put_server("web1", {"weight": 11}, "shop")
        first = next(found)
        sidecar.stop()
        sidecar.start()
        sidecar.put_server("web1", {"weight": 12}, "shop")
        # What was missed over a restart is summed up, or comes itself.
        following = next(found)
        assert first["type"] == "config" and int(following["id"]) > int(first["id"])
        found.close()
        client.close()


def test_a_stream_with_an_end_of_its_own_ends(sidecar: Quick) -> None:
    client = Client(contexts.Context("", {"url": f"http://127.0.0.1:{sidecar.port}", "user": USER[0], "password": USER[1]}))
    assert [each["type"] for each in watch.event_stream(client, {"end_after": "1s", "snapshot": True}, ends=True)][:1] == ["snapshot"]
