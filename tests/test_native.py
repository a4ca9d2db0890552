"""What the package exports, and that its import costs nothing."""

import subprocess
import sys

import pytest

import haproxy_native
from tests.rules.sources import CHECKOUT


def test_every_exported_name_is_there_and_in_the_stub() -> None:
    stub = (CHECKOUT / "native" / "haproxy_native" / "__init__.pyi").read_text()
    for name in haproxy_native.__all__:
        assert getattr(haproxy_native, name)
        assert f" as {name}\n" in stub and f'"{name}",' in stub
        assert name in dir(haproxy_native)


def test_a_name_that_is_not_exported_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="parze"):
        haproxy_native.parze  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("statement", ["import haproxy_native", "import dataplaneapi.cli; dataplaneapi.cli.parser()"])
def test_the_import_brings_no_other_package(statement: str) -> None:
    code = f"import sys; {statement}; print(sorted({{'pydantic', 'asyncio', 'haproxy_native.engine'}} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
