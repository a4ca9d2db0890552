"""Whose a transaction is: its author does with it what it likes, others what a rule for `transaction/ID` allows."""

from haproxy_native.editing.object_names import spelled
from haproxy_native.planning.touches import ANY, Touch
from haproxy_native.request_context import author

READ = "read"
TRANSACTION = "transaction"


def permit(verb: str, id_: str, by: str) -> None:
    """Raises Forbidden where the present author is not `by`, the identity of the transaction's author, and has no right to the verb."""
    asking = author.get()
    if asking.rights is not None and not (by and asking.identity == by):
        asking.rights.permit([Touch(spelled(TRANSACTION, id_), verb, frozenset((ANY,)))])
