"""The generated files are up to date with the declarations."""

from openapi import generate


def test_generated_files_are_fresh():
    lines = generate.differences(generate.files())
    assert not lines, "\n".join([f"generated files are stale: run `{generate.COMMAND}`", *lines[:60]])
