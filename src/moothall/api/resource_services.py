"""Services that belong to single resources: caches, throttles and timers that outlive a request."""

from typing import TypeVar

ServiceT = TypeVar("ServiceT")


class ResourceServices:
    """One service of each class. The composition root builds and closes them; this package knows none of the classes.

    `ctx.services.resources[RecentMessages]` is a `RecentMessages`, for the type checker as well.
    """

    __slots__ = ("_by_class",)

    def __init__(self, *services: object) -> None:
        self._by_class: dict[type, object] = {type(service): service for service in services}

    def __getitem__(self, kind: type[ServiceT]) -> ServiceT:
        """The service of a class. Raises LookupError if the composition root built none."""
        service = self._by_class.get(kind)
        if not isinstance(service, kind):
            raise LookupError(f"the composition root builds no {kind.__name__}")
        return service

    def add(self, *services: object) -> None:
        """Add services, or replace those of the same class."""
        self._by_class.update((type(service), service) for service in services)
