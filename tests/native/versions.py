"""Choose the versions of HAProxy that a test of `haproxy_binaries` runs against."""

import pytest

from tests.haproxy import binaries

*_OLDER, _NEWEST = binaries.WANTED
# For what does not depend on the version: the older ones take their turn in `make soak`.
newest = pytest.mark.parametrize(
    "haproxy_binaries", [*(pytest.param(version, marks=pytest.mark.soak) for version in _OLDER), _NEWEST], indirect=True
)
