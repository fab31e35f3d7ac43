"""Import hook: registers the operators once PyTorch is imported, before or after farpoint. Exported
programs refer to operators by name before any tensor could trigger the registration."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from . import lazy_torch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def watch() -> None:
    """Registers the operators now, or when PyTorch is imported."""
    if lazy_torch.note_torch():
        _register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _register() -> None:
    # While a module of this package that imports PyTorch is itself being imported, it can't be used yet. The
    # first tensor then registers the operators.
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
    if any(getattr(getattr(found, "__spec__", None), "_initializing", False) for found in modules):
        return
    from . import operators  # noqa: F401


class _Finder:
    """Meta path finder that finds PyTorch through the other finders and wraps its loader. Finding the spec alone,
    as programs do to check whether PyTorch is installed, imports nothing.

    It has no base class, since finders need none and importing ``importlib.abc`` takes 10 ms."""

    def __init__(self) -> None:
        #: True while this thread queries the other finders, which may query this one.
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
            lazy_torch.note_torch()
            try:
                _register()
            except Exception as error:  # PyTorch itself is imported
                warnings.warn(f"farpoint can't register its operators: {error!r}", stacklevel=2)

        try:
            loader.exec_module = followed
        except AttributeError:  # a loader that can't be wrapped; the first tensor registers the operators
            pass
