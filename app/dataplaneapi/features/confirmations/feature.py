"""Changes that are taken back unless they are confirmed."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from dataplaneapi.features.confirmations.option import Confirm
from dataplaneapi.features.confirmations.shown import as_dict
from haproxy_native.commit.events import Announced
from haproxy_native.editing.secrets import masked_object
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.guard import Watch
from haproxy_native.features.confirmations.ledger import Confirmation
from haproxy_native.workers.workers import BACKENDS, FRONTENDS

CONFIRMATION = "confirmation"


class ConfirmationsFeature(Feature):
    """`confirmations` keeps the deadlines."""

    only_changes = True

    def __init__(self, services: Services) -> None:
        engine = self._engine = services.engine
        watch = Watch(lambda: services.workers.statistics_in_service(FRONTENDS | BACKENDS))
        self.confirmations = Confirmations(engine.context, services.history, services.returning, engine.database, self._announce, watch)
        self.runs, self.write_options = (self.confirmations,), (Confirm(self.confirmations),)

    def _announce(self, changed: Confirmation) -> None:
        shown = masked_object(as_dict(changed), CONFIRMATION)
        self._engine.context.events.publish(Announced(CONFIRMATION, f"{CONFIRMATION}/{changed.id}", shown))
