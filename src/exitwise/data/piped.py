"""What is piped into the program: its lines, and whether the next one is there already."""

import select
from collections import deque
from collections.abc import Iterator
from io import BufferedIOBase

BLOCK = 2**16


class PipedLines:
    """The lines of a stream, as they come.

    Args:
        stream: such as `sys.stdin.buffer`.
    """

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque()

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while block := self._stream.read1(BLOCK):
            *whole, rest = (rest + block).split(b"\n")
            self._lines.extend(line + b"\n" for line in whole)
            while self._lines:
                yield self._lines.popleft()
        if rest:
            yield rest

    @property
    def must_wait(self) -> bool:
        """Whether whoever writes has not written the next line yet."""
        if self._lines:
            return False
        try:
            return not select.select([self._stream], [], [], 0)[0]
        except (OSError, ValueError):  # nothing that could be asked: bytes in memory, or Windows
            return False
