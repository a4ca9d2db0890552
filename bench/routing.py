"""Measure the lookup of an operation: the slowest of all paths, in this process, without HTTP.

Only our own server can be asked this; the others are measured from outside.
"""

import re
import time
from statistics import median

from dataplaneapi.api.operations import BASE, RouteIndex, operations
from haproxy_native.grammar.load import bundle


def slowest_path(times: int = 20) -> float:
    """Seconds of the path that takes longest, each by its median."""
    document = bundle()
    index = RouteIndex(operations(document))
    worst = 0.0
    for operation in index.operations:
        path = BASE + re.sub(r"\{.*?\}", "some_name", operation.path)
        taken = []
        for _ in range(times):
            begin = time.perf_counter()
            index.find(operation.method, path.encode())
            taken.append(time.perf_counter() - begin)
        worst = max(worst, median(taken))
    return worst
