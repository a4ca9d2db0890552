"""The feature `drains`."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.drains.drains import DRAIN, Drains
from haproxy_native.workers.ending import END_WORKER, WorkerEnding


class DrainsFeature(Feature):
    """The feature `drains`.

    Its attribute `drains` takes servers out of service, and its attribute `ending` ends former workers of HAProxy.
    """

    def __init__(self, services: Services) -> None:
        self.drains, self.ending = Drains(services.engine, services.editor, services.workers), WorkerEnding(services.workers)
        self.works = {DRAIN: self.drains.work, END_WORKER: self.ending.work}
