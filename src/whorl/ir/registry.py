"""Classes by name, and the modules that define them, which are imported when a name is first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from whorl.ir.forking import import_whole

T = TypeVar("T")


class Providers:
    """Which modules provide what a name stands for."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[str, ...]] = {}

    def add(self, package: str, modules: Mapping[str, Iterable[str]]) -> None:
        """Note the names that each module of a package provides."""
        for module, names in modules.items():
            for name in names:
                self._modules[name] = (*self.of(name), f"{package}.{module}")

    def of(self, name: str) -> tuple[str, ...]:
        """The modules that provide a name."""
        return self._modules.get(name, ())

    def load(self, name: str) -> None:
        """Import the modules that provide a name."""
        for module in self.of(name):
            import_whole(module)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes by name: those that are defined, and those that `providers` define once they are asked for."""

    def __init__(self) -> None:
        self.providers = Providers()
        self._classes: dict[str, type[T]] = {}

    def register(self, cls: type[T]) -> None:
        """Note a class by its name. Errors: TypeError where another one has it."""
        name = cls.__name__
        if name in self._classes or cls.__module__ not in (self.providers.of(name) or [cls.__module__]):
            raise TypeError(f"op {name} is defined twice")
        self._classes[name] = cls

    def __getitem__(self, name: str) -> type[T]:
        if name not in self._classes:
            self.providers.load(name)
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes or (isinstance(name, str) and bool(self.providers.of(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.providers, *self._classes)))

    def __len__(self) -> int:
        return sum(1 for _ in self)
