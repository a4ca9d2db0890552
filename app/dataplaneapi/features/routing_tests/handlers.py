"""The operations that store, show and run routing tests."""

import asyncio

from dataplaneapi.api.call import Call, JsonCall, ReadCall, StrictCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.features.routing_tests.feature import RoutingTestsFeature
from haproxy_native.access.rights import ALL, SECRETS, Rights
from haproxy_native.commit.change import Candidate
from haproxy_native.editing.object_names import spelled
from haproxy_native.features.routing_tests.routing_tests import RoutingTests
from haproxy_native.features.routing_tests.run import cases_of, junit
from haproxy_native.features.routing_tests.table import KIND
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.threads import run_in_thread

# How long a run may take, in seconds: long enough for the most cases that a run may have.
ANSWER_SECONDS = 600.0
XML = b"application/xml"


async def read_list(call: ReadCall) -> Response:
    tests = _tests(call).stored
    tests_ = await asyncio.to_thread(lambda: [tests.get(name) for name in tests.names()])
    return json_response(200, tests_)


async def read(call: ReadCall) -> Response:
    test = await asyncio.to_thread(_tests(call).stored.get, call.path.name)
    return json_response(200, test)


async def replace(call: StrictCall) -> Response:
    tests, name = _tests(call).stored, call.path.name
    if (given := call.body.get("name", name)) != name:
        raise ApiError(400, f"name in body is {given!r}, but the path names {name!r}: send one, or both the same")
    is_new = await tests.put(name, call.body, call.author)
    test = await asyncio.to_thread(tests.get, name)
    return json_response(201 if is_new else 200, test)


async def delete(call: JsonCall) -> Response:
    await _tests(call).stored.delete(call.path.name, call.author)
    return empty(204)


async def run(call: StrictCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    body = call.body or {}
    if "cases" in body and "tests" in body:
        raise ApiError(400, "cases in body and names of stored tests exclude each other: send one of the two")
    if "cases" in body:
        cases = await run_in_thread(cases_of, body["cases"])
    else:
        cases = await asyncio.to_thread(_tests(call).stored.cases, body.get("tests"))
    candidate = await _candidate(call)
    test_run = await _tests(call).run(candidate, cases, is_asked=True)
    accepted = call.exchange.values_of(b"accept").strip()
    if call.query.format == "junit" or ("format" not in call.values and accepted == XML.decode()):
        rights = call.author.rights
        with_secrets = not isinstance(rights, Rights) or rights.may(SECRETS, ALL)
        return Response(200, await run_in_thread(junit, test_run, with_secrets=with_secrets), XML)
    return await run_in_thread(lambda: json_response(200, test_run.as_dict()))


async def _candidate(call: Call) -> Candidate:
    """Return the configuration to run tests on. Raises ApiError."""
    text = (call.body or {}).get("config")
    if text is not None and call.transaction_id:
        raise ApiError(400, "config in body and transaction_id exclude each other: send one of the two")
    return await run_in_thread(
        call.services.engine.candidate, None if text is None else text.encode(), call.transaction_id, author=call.author
    )


async def check_test(call: Call) -> bool:
    """Raise the error with which the server would refuse to store or delete a test. Return False, because HAProxy is not reloaded."""
    tests, name = _tests(call).stored, call.path.name
    if call.operation.method == "DELETE":
        tests.get(name)
    exists = tests.content(name) is not None
    verb = DELETE if call.operation.method == "DELETE" else CHANGE if exists else CREATE
    call.author.permit(Touch(spelled(KIND, name), verb, frozenset((ANY,))))
    return False


async def check_run(call: Call) -> bool:
    await call.services.engine.permit_evaluation(await _candidate(call))
    return False


CHECKS = {"replace": check_test, "delete": check_test, "run": check_run}


def _tests(call: Call) -> RoutingTests:
    return RoutingTestsFeature.of(call.services).tests
