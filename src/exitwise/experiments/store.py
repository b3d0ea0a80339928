"""Results of cells: a file each, written once and never changed.

KEY.json                what the run found, with versions, machine, seed and seconds
KEY-OBSERVATION.json    what was looked up in the finished model
*.failed.json           why one of the two is not there; a later success stands beside it
"""

import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exitwise.errors import ExitwiseError
from exitwise.whole_files import write_text

Result = Mapping[str, Any]


class Store:
    """A folder of results.

    Args:
        folder: made when the first result is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, key: str, observation: str | None = None) -> bool:
        """Whether the result is there."""
        return self._path(key, observation).exists()

    def read(self, key: str, observation: str | None = None) -> Result:
        """A result that is there."""
        return read_json(self._path(key, observation))

    def write(self, key: str, result: Result, observation: str | None = None) -> None:
        """Adds a result; one that is there already stays as it is."""
        if not self.has(key, observation):
            self._write(self._path(key, observation), result)

    def failure(self, key: str, observation: str | None = None) -> Result | None:
        """Why a cell did not end, or an observation was not made, unless it was later."""
        path = self._failure_path(key, observation)
        if self.has(key, observation) or not path.exists():
            return None
        return read_json(path)

    def write_failure(
        self, key: str, name: str, error: Exception, observation: str | None = None
    ) -> None:
        """Notes an error; that of an earlier attempt is replaced."""
        trace = "".join(traceback.format_exception(error)[-3:])
        found = {"cell": name, "error": str(error) or type(error).__name__, "trace": trace}
        self._write(self._failure_path(key, observation), found)

    def _path(self, key: str, observation: str | None) -> Path:
        return self.folder / (f"{key}-{observation}.json" if observation else f"{key}.json")

    def _failure_path(self, key: str, observation: str | None) -> Path:
        return self._path(key, observation).with_suffix(".failed.json")

    def _write(self, path: Path, result: Result) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Result:
    """A result from its file; one that somebody has broken is named."""
    try:
        found: Result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ExitwiseError(
            f"{path} is no whole result ({error}): remove it to run it again"
        ) from error
    return found
