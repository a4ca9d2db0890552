"""The server beside HAProxy, as every end-to-end test gets it."""

from tests.haproxy.sidecar import Sidecar


def test_it_answers_and_changes_a_server_live(sidecar: Sidecar) -> None:
    before = sidecar.haproxy.worker_pid()
    server = sidecar.get("backends/app/servers/two").json()
    answer = sidecar.put("backends/app/servers/two", {**server, "weight": 77}, version=sidecar.version())
    assert answer.status_code == 200, answer.text
    assert " 77 " in sidecar.haproxy.ask("show servers state app").splitlines()[3]
    assert sidecar.haproxy.worker_pid() == before


def test_its_transactions_survive_a_restart(sidecar: Sidecar) -> None:
    transaction = sidecar.transaction()
    sidecar.delete("backends/app/servers/one", transaction_id=transaction)
    sidecar.kill()
    sidecar.start()
    assert sidecar.commit(transaction).status_code in (200, 202)
    assert [server["name"] for server in sidecar.get("backends/app/servers").json()] == ["two"]
