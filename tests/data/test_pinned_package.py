import hashlib
import zipfile
from pathlib import Path

import pytest

from exitwise.data.pinned_package import PinnedPackage
from exitwise.errors import ExitwiseError


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, instead of the network."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def publish_wheel(index: Path) -> PinnedPackage:
    path = index / "tiny_sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        about = "tiny_sample-1.0.dist-info"
        wheel.writestr("tiny_sample/data.txt", "text")
        metadata = "Metadata-Version: 2.1\nName: tiny-sample\nVersion: 1.0\nRequires-Dist: absent\n"
        wheel.writestr(f"{about}/METADATA", metadata)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return PinnedPackage(name="tiny-sample", version="1.0", sha256=sha256)


def test_the_archive_comes_alone_and_unchanged(index: Path, tmp_path: Path) -> None:
    package = publish_wheel(index)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    archive = package.download(scratch)
    assert [archive] == list(archive.parent.iterdir())
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == package.sha256


def test_another_archive_than_the_pinned_one_is_refused(index: Path, tmp_path: Path) -> None:
    publish_wheel(index)
    package = PinnedPackage(name="tiny-sample", version="1.0", sha256="0" * 64)
    with pytest.raises(ExitwiseError, match="DO NOT MATCH THE HASHES"):
        package.download(tmp_path)


@pytest.mark.usefixtures("index")
def test_without_a_network_the_error_is_one_line_that_says_so(tmp_path: Path) -> None:
    package = PinnedPackage(name="tiny-sample", version="2.0", sha256="0" * 64)
    with pytest.raises(ExitwiseError) as caught:
        package.download(tmp_path)
    message = str(caught.value)
    assert message.startswith("cannot fetch tiny-sample 2.0 from the package index: Could not find")
    assert message.endswith("needs a network once")
    assert "\n" not in message
