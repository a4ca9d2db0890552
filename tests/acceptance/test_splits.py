"""Split real traffic: check the shares, that clients stay at their backend, and that no request fails while shares change."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import is_live
from tests.acceptance.traffic import Traffic

PATH = "/v3/sidecar/splits"
LINES = """\
    use_backend v1 if {{ path /first }}
    default_backend v1

backend v1 from plain
    server s 127.0.0.1:{v1}

backend v2 from plain
    server s 127.0.0.1:{v2}

backend v3 from plain
    server s 127.0.0.1:{v3}

backend raw from plain
    mode tcp
    server s 127.0.0.1:{v1}
"""


class Divided(Farm):
    def put(self, body: dict[str, object], name: str = "canary", **parameters: str) -> httpx2.Response:
        return self.sidecar.put(f"{PATH}/{name}", body, **parameters)

    def installed(self, body: dict[str, object], name: str = "canary") -> None:
        answer = self.put(body, name, frontend="site")
        assert self.sidecar.reloaded(answer)["status"] == "succeeded", answer.text

    def asked(self, count: int, cookie: Callable[[int], str] | None = None) -> list[str]:
        """Send `count` requests, and return the name of the server that answers each."""
        with httpx2.Client(base_url=self.url, verify=False, timeout=60) as client:
            return [client.get("/", headers={"Cookie": cookie(number)} if cookie else {}).text for number in range(count)]


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Divided]:
    with farm_of(Divided, tmp_path, request.param, LINES, "v1", "v2", "v3") as found:
        yield found


def test_shares_and_what_stays_where(farm: Divided) -> None:
    by = {"by": "cookie:who"}
    refused = farm.put(by | {"weights": {"v1": 95, "v2": 5}})
    lines = refused.json()["plan"]["lines"]
    assert refused.status_code == 409 and len(lines) == 2 and "frontend=NAME" in refused.json()["message"]
    assert farm.sidecar.get(f"{PATH}/canary").status_code == 404
    farm.installed(by | {"weights": {"v1": 95, "v2": 5}})
    text = farm.sidecar.text()
    assert text.index("if { path /first }") < text.index(lines[0]) < text.index(lines[1]) < text.index("default_backend v1")

    def cookie(number: int) -> str:
        return f"who={number}"

    first = farm.asked(400, cookie)
    assert abs(first.count("v2") - 20) <= 10
    assert farm.asked(50, cookie) == first[:50], "who has a cookie stays"
    assert is_live(farm.put(by | {"weights": {"v1": 1, "v2": 1}}))
    second = farm.asked(400, cookie)
    assert abs(second.count("v2") - 200) <= 25
    assert {now for before, now in zip(first, second, strict=True) if before == "v2"} == {"v2"}
    assert is_live(farm.put(by | {"weights": {"v1": 95, "v2": 5}}))
    assert farm.asked(400, cookie) == first, "and back"
    # Requests without a cookie, or with an empty one, are distributed at random.
    assert 1 <= farm.asked(300).count("v2") <= 60
    assert 1 <= farm.asked(300, lambda number: "who=").count("v2") <= 60


def test_ten_splits_under_traffic(farm: Divided) -> None:
    farm.installed({"by": "random", "weights": {"v1": 1}})
    with Traffic(farm.url, ["/"], ["v1", "v2", "v3"]) as traffic:
        for step in range(1, 20, 2):
            answer = farm.put({"by": "random", "weights": {"v1": 20 - step, "v2": step, "v3": 1}})
            assert is_live(answer), farm.sidecar.why(answer)
            traffic.wait_for(traffic.count + 30)
        traffic.wait_for(traffic.count + 50)
    assert traffic.failures == []
    assert farm.sidecar.get(f"{PATH}/canary").json()["shares"] == {"v1": 5, "v2": 90, "v3": 5}


def test_what_was_asked_since_with_a_former_worker(farm: Divided) -> None:
    farm.installed({"by": "random", "weights": {"v1": 1, "v2": 1}})
    farm.asked(20)
    assert is_live(farm.put({"by": "random", "weights": {"v1": 30, "v2": 70}}))
    assert farm.sidecar.get(f"{PATH}/canary").json()["requests"] == {"v1": 0, "v2": 0}
    with httpx2.Client(base_url=farm.url, timeout=60, verify=False) as client, client.stream("GET", "/first"):
        # The answer is not read, so the session and its process stay.
        counted = Counter(farm.asked(300))
        farm.reload()
        counted += Counter(farm.asked(700)) + Counter(["v1"])
        found = farm.sidecar.get(f"{PATH}/canary").json()
    assert found["requests"] == dict(counted), found
    assert abs(counted["v2"] - 700) <= 60


def test_by_source_in_mode_tcp_and_what_is_refused(farm: Divided) -> None:
    def why(body: dict[str, object], **parameters: str) -> tuple[int, str]:
        answer = farm.put(body, **parameters)
        return answer.status_code, answer.json()["message"]

    assert why({"by": "random", "weights": {"v1": 1, "nobody": 1}}) == (400, "validation error: weights: backend nobody does not exist")
    status, text = why({"by": "random", "weights": {"v1": 1, "raw": 1}})
    assert status == 400 and "v1 has mode http" in text and "raw has mode tcp" in text
    assert why({"by": "random", "weights": {"v1": 0}})[0] == 400
    assert why({"by": "moon", "weights": {"v1": 1}})[0] == 422
    assert why({"by": "cookie:a", "weights": {"raw": 1}})[0] == 400
    assert why({"by": "random", "weights": {"v1": 1}}, frontend="nowhere") == (404, "there is no frontend nowhere")
    farm.installed({"by": "source", "weights": {"v1": 1, "v2": 1}})
    assert len(set(farm.asked(50))) == 1, "one address is one client"
    status, text = why({"by": "random", "weights": {"v1": 1}})
    assert status == 409 and "frontend=site" in text


def test_deleted(farm: Divided) -> None:
    before = farm.sidecar.text()
    farm.installed({"by": "header:X-User", "weights": {"v2": 1}})
    assert set(farm.asked(20)) == {"v2"}
    answer = farm.sidecar.delete(f"{PATH}/canary")
    assert farm.sidecar.reloaded(answer)["status"] == "succeeded"
    assert set(farm.asked(20)) == {"v1"} and farm.sidecar.get(f"{PATH}/canary").status_code == 404
    assert before.partition("frontend")[2] == farm.sidecar.text().partition("frontend")[2]
    assert not list((farm.sidecar.directory / "maps_dir").glob("split_*"))
