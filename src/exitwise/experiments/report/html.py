"""Elements of a page: what is not HTML already is escaped."""

from collections.abc import Iterable
from html import escape

VOID = {"col", "img"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool) -> Html:
    """An element. `class_` stands for `class`, `data_value` for `data-value`.

    >>> element("p", "1 < 2 ", element("b", "so"), class_="note")
    '<p class="note">1 &lt; 2 <b>so</b></p>'

    Args:
        tag: its name.
        children: elements, or text that is escaped.
        attributes: `True` writes the name alone, `False` nothing.
    """
    written = "".join(
        f" {key}" if value is True else f' {key}="{escape(str(value))}"'
        for key, value in ((name.strip("_").replace("_", "-"), v) for name, v in attributes.items())
        if value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Elements and escaped texts one behind the other.

    >>> joined(["a & b", element("i", "c")], " ")
    'a &amp; b <i>c</i>'
    """
    escaped = [part if isinstance(part, Html) else Html(escape(part)) for part in parts]
    return Html(escape(between).join(escaped))


def paragraphs(text: str, **attributes: str | bool) -> Html:
    """A paragraph; nothing for an empty text."""
    return element("p", text.strip(), **attributes) if text.strip() else Html()


def table(
    caption: str, head: Iterable[Html], rows: Iterable[Iterable[Html]], **attributes: str | bool
) -> Html:
    """A table in a box that scrolls where it is too wide.

    Args:
        caption: what it shows.
        head: rows of header cells.
        rows: cells of the body.
        attributes: of the table.
    """
    body = element("tbody", *(element("tr", *row) for row in rows))
    inner = element(
        "table", element("caption", caption), element("thead", *head), body, **attributes
    )
    return element("div", inner, class_="wide", tabindex="0", role="region", aria_label=caption)


def sortable_head(*names: str) -> Html:
    """A row of headers that sort by their column."""
    return element(
        "tr",
        *(element("th", name, scope="col", data_column=str(n)) for n, name in enumerate(names)),
    )
