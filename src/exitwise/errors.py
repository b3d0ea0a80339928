"""The errors that a user of exitwise can meet.

    ExitwiseError
    ├── DataError            a file, a row or a column is not what training or prediction needs
    ├── RecipeError          a recipe, an override or a flag does not fit
    ├── UnsupportedError     a model or a task that exitwise does not handle, by name
    ├── MissingExtraError    an optional dependency is not installed
    └── NotFittedError       a classifier is asked before it has learned

Arguments of Python functions raise `ValueError` or `TypeError`. The command line prints any
`ExitwiseError` as one line and exits with status 2; a traceback means a bug.
"""


class ExitwiseError(Exception):
    """The base of all errors that are the caller's to mend; the message says how."""


class DataError(ExitwiseError):
    """Data cannot be used: names the file, the row or column, and the remedy."""


class RecipeError(ExitwiseError):
    """A recipe cannot be run: names the key, the value found and what would do."""


class UnsupportedError(ExitwiseError):
    """A model or a task is outside what exitwise handles: names it and lists what works."""


class NotFittedError(ExitwiseError, AttributeError):
    """A classifier has not learned yet; what it learns is not there, as in scikit-learn."""


class MissingExtraError(ExitwiseError):
    """An optional dependency is missing: names the extra to install.

    >>> print(MissingExtraError("torch", extra="train"))
    torch is not installed: pip install 'exitwise[train]'
    """

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'exitwise[{extra}]'")
