"""Lines of a file or of standard input as text, or an error that names the place."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from exitwise.errors import DataError

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """A line with its end, counted from 1."""

    number: int
    text: str


def text_lines(stream: Iterable[bytes], source: str) -> Iterator[Line]:
    r"""The lines of a stream of UTF-8, one at a time; a byte order mark is left out.

    Only a line feed ends a line: other characters that Unicode counts as line ends may well
    stand in a text.

    >>> import io
    >>> [line.text for line in text_lines(io.BytesIO(b"\xef\xbb\xbfgood\nbad"), "words.txt")]
    ['good\n', 'bad']
    >>> list(text_lines(io.BytesIO(b"good\ncaf\xe9\n"), "words.txt"))
    Traceback (most recent call last):
    exitwise.errors.DataError: words.txt, line 2: byte 4 (0xe9) is not UTF-8; save it as UTF-8
    """
    for number, raw in enumerate(stream, start=1):
        if number == 1 and raw.startswith(UTF16_MARKS):
            raise DataError(f"{source} is written in UTF-16; save it as UTF-8")
        if b"\0" in raw:
            raise DataError(f"{source}, line {number}: a zero byte; is this a text in UTF-8?")
        yield Line(number, _decode(raw, number, source))


def _decode(raw: bytes, number: int, source: str) -> str:
    try:
        return (raw.removeprefix(UTF8_MARK) if number == 1 else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise DataError(f"{source}, line {number}: {byte} is not UTF-8; save it as UTF-8") from None
