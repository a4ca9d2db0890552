"""Fixtures for all tests: HAProxy binaries by version, a running HAProxy, and this server next to it."""

import gc
import os
import random
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.acceptance import mounts
from tests.acceptance.quick import Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.laws import settings as laws
from tests.rules import etc, skips

# The check of a configuration of several files makes links to all files in the directories above. /tmp may have thousands of files.
TEMPORARY = "/var/tmp"
# The directories and files with slow tests. They start first, so that no worker is still running them when all others are done.
FIRST = ("tests/acceptance/", "tests/laws/test_referee.py", "tests/docs/", "tests/bench/", "tests/demo/", "tests/page/", "")
CONFIG = """\
global
    stats socket {{stats}} level admin

defaults http
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

frontend site from http
    bind 127.0.0.1:{site}
    default_backend app

backend app from http
    balance roundrobin
    server one 127.0.0.1:{one} weight 10   # the first
    server two 127.0.0.1:{two} weight 20
"""


class FilesTogether(LoadScopeScheduling):
    """Send all tests of a file, and all of tests/rules, to one worker, in their order, so that they can share what they start.

    The marks of pytest-xdist for this (`xdist_group`) have no effect with pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        # All rules read the same syntax trees.
        return "tests/rules/" if nodeid.startswith("tests/rules/") else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        if self.config.getoption("order"):
            return super()._assign_work_unit(node)
        ordered = sorted(self.workqueue.items(), key=lambda unit: next(n for n, start in enumerate(FIRST) if unit[0].startswith(start)))
        self.workqueue = OrderedDict(ordered)
        super()._assign_work_unit(node)


# Must come before hypothesis looks up the profile of the command line.
laws.register()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--order", metavar="SEED", help="run files, and the tests of each, in the random order of this seed")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("order")
    return f"in random order: --order {seed}" if seed else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests. Afterwards, pytest groups tests of a file by the parameters of their module fixtures again."""
    if seed := config.getoption("order"):
        chance = random.Random(seed)
        files = list(dict.fromkeys(item.path for item in items))
        chance.shuffle(files)
        chance.shuffle(items)
        places = {path: place for place, path in enumerate(files)}
        items.sort(key=lambda item: places[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Disable the garbage collector, because everything that the collection of tests creates stays in use."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    if "TMPDIR" not in os.environ and os.access(TEMPORARY, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", TEMPORARY)
    config.pluginmanager.register(skips)
    config.pluginmanager.register(etc)
    mounts.register(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesTogether:
    return FilesTogether(config, log)


@pytest.fixture(scope="module")
def directory_of_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("f")


@pytest.fixture
def tmp_path(directory_of_file: Path, request: pytest.FixtureRequest) -> Path:
    """Return a directory for one test, next to the directories of the other tests in its file.

    The check of a configuration of several files makes links to all files in the directories above, so these have few files.
    """
    name = re.sub(r"\W", "_", request.node.name.removeprefix("test_"))[:16]
    path = directory_of_file / f"{name}{len(os.listdir(directory_of_file))}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(scope="session")
def haproxy_binary() -> str:
    """Return the path of the newest HAProxy, 3.0 or later, which most tests use."""
    return binaries.of((3, 0))


@pytest.fixture(params=binaries.EACH)
def haproxy_binaries(request: pytest.FixtureRequest) -> str:
    """Return the path of a HAProxy. A test with this fixture runs once for each version in `binaries.EACH`."""
    return binaries.exactly(request.param)


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binary: str) -> Iterator[HAProxy]:
    """Run HAProxy with a frontend `site`, and a backend `app` with the servers `one` and `two`."""
    config = CONFIG.format(site=free_port(), one=free_port(), two=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as running:
        yield running


@pytest.fixture
def sidecar(haproxy: HAProxy, request: pytest.FixtureRequest) -> Iterator[Quick]:
    """Run this server for the HAProxy of the fixture `haproxy`. A parameter of the fixture has settings of reloads."""
    with Quick(haproxy, delay=None, reload=getattr(request, "param", None)) as running:
        yield running
