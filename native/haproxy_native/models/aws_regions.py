# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import aws_region


class AwsRegions(RootModel[list[aws_region.AwsRegion]]):
    """All regions."""

    root: list[aws_region.AwsRegion]
