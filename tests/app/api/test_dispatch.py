"""Each operation has one route, made when it is first called."""

from tests.app.client import CONFIG, Client


def test_routes_are_made_once(client: Client) -> None:
    dispatch = client.app.dispatch
    assert client.get(f"{CONFIG}/frontends").status == client.get(f"{CONFIG}/frontends/web").status == 200
    made = dict(dispatch._routes)
    assert client.get(f"{CONFIG}/frontends/web").status == 200
    assert dispatch._routes == made and {each.path for each in made} == {
        "/services/haproxy/configuration/frontends",
        "/services/haproxy/configuration/frontends/{name}",
    }


def test_what_no_operation_is_for(client: Client) -> None:
    assert client.get("/v3/nowhere").status == 404 and client.post(f"{CONFIG}/version").status == 405
