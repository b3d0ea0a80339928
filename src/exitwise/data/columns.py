"""Which columns of a table hold the texts and the labels."""

import difflib
import logging
from collections.abc import Collection
from dataclasses import dataclass

from exitwise.data.tables import Table
from exitwise.errors import DataError

logger = logging.getLogger(__name__)

PAIR_NAMES = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("question", "sentence"),
    ("question", "passage"),
    ("question", "context"),
    ("query", "passage"),
)
TEXT_NAMES = (
    *("text", "sentence", "review", "content", "document", "comment"),
    *("message", "tweet", "utterance", "question", "body"),
)
LABEL_NAMES = ("label", "labels", "class", "category", "target", "sentiment", "gold_label")
NUMBERING = ("", "idx", "id", "index", "guid", "unnamed: 0")
"""Names of columns that number the rows, among them that of an index written by pandas."""


@dataclass(frozen=True)
class Columns:
    """The columns that are read; pair and label may be absent."""

    text: str
    pair: str | None = None
    label: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(name for name in (self.text, self.pair, self.label) if name is not None)


def choose_columns(
    table: Table, *, text: str | None = None, pair: str | None = None, label: str | None = None
) -> Columns:
    """The columns by the names given, the others guessed by usual names, which is logged.

    A text given without a pair means single texts. A single column that is left counts as the
    one sought, columns that number the rows aside.

    Raises:
        DataError: a column is not there, no guess is good, or one column is to be two things.
    """
    check_columns(table, text, pair, label)
    found = label or guess_label(table, taken={text, pair})
    columns = choose_text_columns(table, text=text, pair=pair, label=found)
    if found is None:
        found = only_one_left(table, taken={columns.text, columns.pair})
    if label is None and found is not None:
        logger.info("%s: labels are read from column %r", table.source, found)
    return Columns(columns.text, columns.pair, found)


def choose_text_columns(
    table: Table, *, text: str | None = None, pair: str | None = None, label: str | None = None
) -> Columns:
    """As `choose_columns`, for texts alone; a label column is known not to hold them."""
    check_columns(table, text, pair)
    label = label or guess_label(table, taken={text, pair})
    columns = Columns(text, pair) if text else guess_texts(table, pair=pair, label=label)
    if text is None:
        logger.info("%s: texts are read from %s", table.source, " and ".join(columns.names))
    return columns


def check_columns(table: Table, *names: str | None) -> None:
    """Raises `DataError` if a column that is named is not there, or named twice."""
    given = [name for name in names if name is not None]
    for name in given:
        if name not in table.columns:
            near = difflib.get_close_matches(name, table.columns, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{table.source} has no column {name!r}{hint} {table.listing}")
    if len(set(given)) < len(given):
        raise DataError(
            f"{table.source}: text, pair and label must be different columns, "
            f"found {', '.join(given)}"
        )


def guess_label(table: Table, *, taken: Collection[str | None]) -> str | None:
    """The first column with a usual name for labels."""
    return _first(table, LABEL_NAMES, taken)


def guess_texts(table: Table, *, pair: str | None, label: str | None) -> Columns:
    """Two columns that are usual for pairs, or the first usual one for texts, or the only one."""
    taken = {pair, label}
    if pair is None:
        for first, second in PAIR_NAMES:
            one, two = _first(table, [first], taken), _first(table, [second], taken)
            if one is not None and two is not None:
                return Columns(one, two)
    text = _first(table, TEXT_NAMES, taken) or only_one_left(table, taken=taken)
    if text is None:
        raise DataError(
            f"{table.source}: cannot tell which column holds the texts {table.listing}; "
            "name it with text_column"
        )
    return Columns(text, pair)


def only_one_left(table: Table, *, taken: Collection[str | None]) -> str | None:
    """The only column that has no part yet and does not number the rows."""
    left = [name for name in table.columns if name not in taken and name.lower() not in NUMBERING]
    return left[0] if len(left) == 1 else None


def _first(table: Table, usual: Collection[str], taken: Collection[str | None]) -> str | None:
    by_lower = {name.lower(): name for name in reversed(table.columns) if name not in taken}
    return next((by_lower[name] for name in usual if name in by_lower), None)
