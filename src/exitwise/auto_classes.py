"""Lets the Auto classes of transformers know our model, without importing either beforehand."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

CONFIGURATION = "transformers.models.auto.configuration_auto"
PACKAGES = ("transformers", "exitwise")


def register_when_needed() -> None:
    """Registers our model as soon as transformers has its Auto classes, at once if it has them.

    Importing exitwise must not import transformers, which takes seconds. So a hook in
    `sys.meta_path` waits until somebody else imports the Auto classes, and then leaves.
    """
    if importlib.util.find_spec("torch") is None:
        return  # there is no model to register
    if CONFIGURATION in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Hook())


def _register() -> None:
    importlib.import_module("exitwise.modeling")  # which registers its classes


class _Hook(MetaPathFinder):
    """Watches imports of transformers and exitwise, and registers when none is half done.

    Every Auto class imports the module `CONFIGURATION`, but often from the middle of another one
    that our model needs whole. So it is the outermost import whose end counts.
    """

    def __init__(self) -> None:
        self.under_way = 0

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = self._spec_by_the_others(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Watched(spec.loader, self)
        return spec

    def _spec_by_the_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        return next((spec for spec in specs if spec is not None), None)

    def finished(self) -> None:
        """Called after the import of a watched module, whether it failed or not."""
        self.under_way -= 1
        if not self.under_way and CONFIGURATION in sys.modules and self in sys.meta_path:
            sys.meta_path.remove(self)
            _register()


class _Watched(Loader):
    """Loads a module by its own loader, and tells the hook before and after.

    Whatever else is asked of a loader (`python -m` wants the code), the module's own answers.
    """

    def __init__(self, loader: Loader, hook: _Hook) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader  # as if nobody had watched
        self._hook.under_way += 1
        try:
            self._loader.exec_module(module)
        finally:
            self._hook.finished()
