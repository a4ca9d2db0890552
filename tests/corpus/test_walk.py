"""Walk at random over the API with the files of the corpus. Valid files also get random comments and conditionals."""

import random
import secrets
import tomllib
from pathlib import Path

import pytest

from haproxy_native.errors import Refused
from haproxy_native.request_context import NOBODY
from tests.app.client import Client, settings
from tests.corpus.test_corpus import FILES, REFEREE
from tests.corpus.walk import Walk, decorated
from tests.haproxy import binaries
from tests.laws.referee import furnish

VALID = [path for path in FILES if path.parent.name == "valid"]


def walk(directory: Path, path: Path, chance: random.Random, steps: int, binary: str = "") -> Walk | None:
    """Walk from one file, and return the walk; None if HAProxy refuses the file itself."""
    directory.mkdir(parents=True)
    given = settings(directory, **({"haproxy_bin": binary, "validate_cmd": ""} if binary else {}))
    data = path.read_bytes()
    if path in VALID:
        data = decorated(data.decode(), chance).encode()
    Path(given.config_file).write_bytes(data)
    with Client(given) as client:
        walking = Walk(client, chance)
        try:
            client.runner.run(client.engine.validate(data, author=NOBODY))
        except Refused:
            return None
        for _ in range(steps):
            walking.step()
        return walking


def test_a_walk_over_odd_files(tmp_path: Path) -> None:
    seed = secrets.randbelow(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for number, path in enumerate(chance.sample(FILES, 12)):
        walk(tmp_path / str(number), path, chance, 12)


@pytest.mark.soak
@pytest.mark.parametrize("version", ["2.6", "2.8", "3.0", "3.2", "3.4"])
def test_a_long_walk_with_haproxy_as_the_referee(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = secrets.randbelow(10**6)
    print(f"seed {seed}")
    furnish(tmp_path, tomllib.loads(REFEREE.read_text())["files"])
    monkeypatch.chdir(tmp_path)
    chance, done, number = random.Random(seed), 0, 0
    while done < 500:
        number += 1
        found = walk(tmp_path / str(number), chance.choice(VALID), chance, 50, binaries.exactly(version))
        done += sum(found.steps.values()) if found else 0
    print(f"{done} steps, {number} files")
