"""Read and edit sites. A site is one object for a frontend, its listeners, and the backends that it uses (its farms).

An edit of a site edits the frontend and the backends. Members of these that a site does not have are kept. A backend is deleted together
with the last site that names it, unless another proxy uses it. `Sites` has the same interface, and raises the same errors, as the
editor for sections.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from haproxy_native.editing.editor import Editor, Object, Parent
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadValue, Missing, OtherName, Place
from haproxy_native.grammar.schema import arrange
from haproxy_native.text.document import Document

FRONTEND, BACKEND, BIND, SERVER, RULE = "frontends", "backends", "binds", "servers", "backend_switching_rules"
# Members of a service or a farm that are not members of the frontend or the backend.
LISTENERS, SERVERS, USE_AS = "listeners", "servers", "use_as"
CONDITION = ("cond", "cond_test")
DEFAULT, CONDITIONAL = "default", "conditional"
USERS = (FRONTEND, "listens")


class Sites:
    """Edits sites in documents of one grammar."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self._table = editor.resources
        site = editor.resources["sites"]
        self._fallback = site.fallback
        schemas = editor.grammar.schemas
        parts = schemas.properties(schemas.named(site.schema))
        self._of_service = [name for name in parts["service"]["properties"] if name != LISTENERS]
        own = parts["farms"]["items"]["properties"]
        # The members of servers and listeners are already in order.
        order = schemas.order(schemas.named(site.schema))
        self._order = {**order, "farms": {**order["farms"], SERVERS: {}}, "service": {**order["service"], LISTENERS: {}}}
        self._of_farm = [name for name in own if name not in ("name", SERVERS, USE_AS, *CONDITION)]

    # -- reading

    def list_objects(self, document: Document, resource: Resource, parent: Parent = None, *, full: bool = False) -> list[Object]:
        return [self._site(document, frontend) for frontend in self.editor.list_objects(document, self._table[FRONTEND])]

    def get_object(self, document: Document, resource: Resource, parent: Parent, key: str | int, *, full: bool = False) -> Object:
        self.check_exists(document, resource, parent, key)
        return self._site(document, self.editor.get_object(document, self._table[FRONTEND], None, key))

    def check_exists(self, document: Document, resource: Resource, parent: Parent, key: str | int, situation: str = "") -> None:
        if document.find("frontend", str(key)) is None:
            raise Missing(f"Site {key} does not exist")

    def has_written_name(self, document: Document, resource: Resource, parent: Parent, key: str | int) -> bool:
        return document.find("frontend", str(key)) is not None

    def unparsed(self, document: Document, resource: Resource, parent: Parent) -> list[int]:
        return []

    def _site(self, document: Document, frontend: Object) -> Object:
        service = {name: frontend[name] for name in self._of_service if name in frontend}
        if listeners := self._children(document, BIND, FRONTEND, frontend["name"]):
            service[LISTENERS] = listeners
        farms = self._farms(document, frontend)
        members: Object = {"farms": farms} if farms else {}
        site: Object = arrange(members | {"name": frontend["name"]} | ({"service": service} if service else {}), self._order)
        return site

    def _farms(self, document: Document, frontend: Object) -> list[Object]:
        farms = []
        if self._is_backend(document, default := frontend.get(self._fallback)):
            farms.append(self._farm(document, str(default)) | {USE_AS: DEFAULT})
        for rule in self._rules(document, frontend["name"]):
            if self._is_backend(document, rule["name"]):
                condition = {name: rule[name] for name in CONDITION if name in rule}
                farms.append(condition | self._farm(document, rule["name"]) | {USE_AS: CONDITIONAL})
        return farms

    def _farm(self, document: Document, name: str) -> Object:
        backend = self.editor.get_object(document, self._table[BACKEND], None, name)
        farm = {member: backend[member] for member in self._of_farm if member in backend} | {"name": name}
        servers = self._children(document, SERVER, BACKEND, name)
        return farm | ({SERVERS: servers} if servers else {})

    def _children(self, document: Document, collection: str, parent: str, name: str) -> list[Object]:
        return self.editor.list_objects(document, self._table[collection], (self._table[parent], name))

    def _rules(self, document: Document, frontend: str) -> list[Object]:
        return self._children(document, RULE, FRONTEND, frontend)

    def _is_backend(self, document: Document, name: object) -> bool:
        return isinstance(name, str) and document.find("backend", name) is not None

    # -- writing

    def create(
        self,
        document: Document,
        resource: Resource,
        parent: Parent,
        body: Mapping[str, Any],
        *,
        index: int | None = None,
        full: bool = False,
    ) -> Document:
        """Return the document with a new frontend and its new backends. Raises Exists if the frontend or a backend exists."""
        farms = self._farms_of(body)
        document = self.editor.create(document, self._table[FRONTEND], None, self._frontend({"name": body["name"]}, body, farms))
        for name in _names(farms):
            document = self.editor.create(document, self._table[BACKEND], None, {"name": name})
        return self._with_children(document, body, farms)

    def replace(
        self, document: Document, resource: Resource, parent: Parent, key: str | int, body: Mapping[str, Any], *, full: bool = False
    ) -> Document:
        """Return the document with the values of a site replaced. Former backends of the site that no proxy uses any more are deleted."""
        self.check_exists(document, resource, parent, key)
        if body["name"] != key:
            text = f"name in body is '{body['name']}', and the path names '{key}'; send the name of the path"
            raise OtherName(text, place=Place(member="name"))
        farms = self._farms_of(body)
        frontend = self.editor.get_object(document, self._table[FRONTEND], None, key)
        former = _names(self._farms(document, frontend))
        if self._is_backend(document, frontend.get(self._fallback)):
            del frontend[self._fallback]
        document = self.editor.replace(document, self._table[FRONTEND], None, key, self._frontend(frontend, body, farms))
        for name in _names(farms):
            if not self._is_backend(document, name):
                document = self.editor.create(document, self._table[BACKEND], None, {"name": name})
        document = self._with_children(document, body, farms)
        return self._without_backends(document, [name for name in former if name not in _names(farms)])

    def delete(self, document: Document, resource: Resource, parent: Parent, key: str | int) -> Document:
        """Return the document without the frontend of a site, and without its backends that no other proxy uses."""
        self.check_exists(document, resource, parent, key)
        former = _names(self._farms(document, self.editor.get_object(document, self._table[FRONTEND], None, key)))
        document = self.editor.delete(document, self._table[FRONTEND], None, key)
        return self._without_backends(document, former)

    def _farms_of(self, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the farms of a body. Raises BadValue for two default farms, and for two farms of one name with different values."""
        farms: Sequence[Mapping[str, Any]] = body.get("farms") or []
        if sum(farm[USE_AS] == DEFAULT for farm in farms) > 1:
            raise BadValue(f"Multiple default backends found in site: {body.get('name')}", place=Place(member="farms"))
        known: dict[str, Mapping[str, Any]] = {}
        for farm in farms:
            own = {name: farm[name] for name in (*self._of_farm, SERVERS) if farm.get(name)}
            if known.setdefault(str(farm["name"]), own) != own:
                raise BadValue(f"farm {farm['name']} is given twice, with different values", place=Place(member="farms"))
        return farms

    def _frontend(self, old: Mapping[str, Any], site: Mapping[str, Any], farms: Sequence[Mapping[str, Any]]) -> Object:
        """Return the object of the frontend after a site is written, without children. `old`: the former object."""
        new = _with_members(old, site.get("service") or {}, self._of_service)
        default = next((farm for farm in farms if farm[USE_AS] == DEFAULT), None)
        return new if default is None else new | {self._fallback: default["name"]}

    def _with_children(self, document: Document, body: Mapping[str, Any], farms: Sequence[Mapping[str, Any]]) -> Document:
        name, service = str(body["name"]), body.get("service") or {}
        document = self._replace_children(
            document, BIND, FRONTEND, name, [_with_default_name(listener) for listener in service.get(LISTENERS) or ()]
        )
        document = self._replace_children(document, RULE, FRONTEND, name, self._rules_of_farms(document, name, farms))
        for farm in {str(farm["name"]): farm for farm in farms}.values():
            backend = self.editor.get_object(document, self._table[BACKEND], None, str(farm["name"]))
            document = self.editor.replace(
                document, self._table[BACKEND], None, str(farm["name"]), _with_members(backend, farm, self._of_farm)
            )
            document = self._replace_children(document, SERVER, BACKEND, str(farm["name"]), farm.get(SERVERS))
        return document

    def _rules_of_farms(self, document: Document, frontend: str, farms: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the rules of a frontend: one for each conditional farm, in the order of the farms.

        Rules that name no existing backend keep their index. Raises BadValue if a conditional farm has no condition.
        """
        rules = self._rules(document, frontend)
        existing = {_meaning(rule): rule for rule in rules}
        new: list[Mapping[str, Any]] = []
        for farm in (farm for farm in farms if farm[USE_AS] == CONDITIONAL):
            if rule := existing.get(_meaning(farm)):
                new.append(rule)
                continue
            for member in CONDITION:
                if not farm.get(member):
                    detail = f"{member} in body is required for the conditional farm {farm['name']}"
                    raise BadValue(detail, place=Place(member=f"farms.{member}"))
            new.append(dict(_meaning(farm)))
        for place, rule in enumerate(rules):
            if not self._is_backend(document, rule["name"]):
                new.insert(place, rule)
        return new

    def _replace_children(
        self, document: Document, collection: str, parent: str, name: str, bodies: Sequence[Mapping[str, Any]] | None
    ) -> Document:
        if not bodies and not self._children(document, collection, parent, name):
            return document
        return self.editor.replace_all(document, self._table[collection], (self._table[parent], name), bodies or [])

    def _without_backends(self, document: Document, names: Sequence[str]) -> Document:
        """Return the document without the backends in `names` to which no proxy sends requests."""
        used: set[str] = set()
        for collection in USERS:
            for proxy in self.editor.list_objects(document, self._table[collection]):
                used.add(str(proxy.get(self._fallback)))
                used |= {rule["name"] for rule in self._children(document, RULE, collection, proxy["name"])}
        for name in names:
            if name not in used:
                document = self.editor.delete(document, self._table[BACKEND], None, name)
        return document


def _meaning(rule: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the members that a rule and a farm have in common, for comparison: the backend and the condition."""
    return tuple((name, rule[name]) for name in ("name", *CONDITION) if rule.get(name))


def _with_default_name(listener: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the listener with a name, by default its address and port. Raises BadValue if the listener has neither a name nor a port."""
    if listener.get("name"):
        return listener
    if listener.get("port") is None:
        raise BadValue("port in body is required for a listener without a name", place=Place(member="service.listeners.port"))
    return {**listener, "name": f"{listener.get('address') or '*'}:{listener['port']}"}


def _names(farms: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(farm["name"]) for farm in farms))


def _with_members(old: Mapping[str, Any], new: Mapping[str, Any], members: Sequence[str]) -> Object:
    others = {name: value for name, value in old.items() if name not in members}
    return others | {name: new[name] for name in members if new.get(name) is not None}
