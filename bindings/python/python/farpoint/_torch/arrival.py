"""Registers the operators as soon as PyTorch is imported, whichever of the two comes first: exported
programs name them, and hold no tensor yet that would bring them in."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from . import presence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def watch() -> None:
    """Registers them now, or when PyTorch is imported."""
    if presence.note_torch():
        _register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _register() -> None:
    # A module of this package that imports PyTorch, and is half imported itself, can't be used yet. The
    # first tensor brings the operators in.
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
    if any(getattr(getattr(found, "__spec__", None), "_initializing", False) for found in modules):
        return
    from . import operators  # noqa: F401


class _Finder:
    """Finds PyTorch as the other finders do, and has its loader say when it is done. Finding it alone,
    which is how programs ask whether it is installed, imports nothing.

    It has no base class, as finders need none: ``importlib.abc`` alone takes 10 ms to import."""

    def __init__(self) -> None:
        #: True while other finders are asked on this thread: one of them may ask this one.
        self._asking = ContextVar("_asking", default=False)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "torch" or self._asking.get():
            return None
        before = self._asking.set(True)
        try:
            for finder in list(sys.meta_path):
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
                if spec is not None:
                    self._follow(spec.loader)
                    return spec
        finally:
            self._asking.reset(before)
        return None

    def _follow(self, loader: Any) -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def followed(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            presence.note_torch()
            try:
                _register()
            except Exception as error:  # PyTorch itself is fine
                warnings.warn(f"farpoint can't register its operators: {error!r}", stacklevel=2)

        try:
            loader.exec_module = followed
        except AttributeError:  # a loader without room for it; the first tensor brings them in
            pass
