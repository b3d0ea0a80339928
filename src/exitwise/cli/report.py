"""`exitwise report`: results of the paper's tables as a page, as pictures and in Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exitwise.cli.reports import other_libraries_quiet, spinner
from exitwise.cli.reproduce import Encoders, Folder, encoders_of
from exitwise.errors import ExitwiseError

if TYPE_CHECKING:
    from exitwise.experiments.report import State


def report(
    results: Annotated[Path, typer.Argument(help="Such as experiments/results/small.")],
    experiments: Folder = Path("experiments"),
    overlay: Annotated[
        str | None, typer.Option(help="The scale; by default the name of the folder.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="By default RESULTS/report.")
    ] = None,
    encoder: Encoders = None,
) -> None:
    """Writes what results say: report.html, figures/ and tables.md. Nothing is trained."""
    check_folder(results)
    with other_libraries_quiet(), spinner("reading") as status:
        from exitwise.experiments import Experiments, Store
        from exitwise.experiments.figures import pictures, save
        from exitwise.experiments.report import Commands, State, report_page, results_markdown
        from exitwise.whole_files import write_text

        scale = overlay or results.resolve().name
        chosen = Experiments.read(experiments, scale).narrowed(encoders=encoders_of(encoder or []))
        commands = Commands(
            overlay=scale,
            folder=str(experiments),
            results=None if is_default(results, experiments, scale) else str(results),
            encoders=tuple(encoder or ()),
        )
        state = State(chosen, Store(results), commands)
        check_results(state, scale)
        folder = output or results / "report"
        drawn = []
        for picture in pictures(chosen, state.store):
            status.update(f"drawing {picture.name}")
            _, svg = save(picture, folder / "figures")
            drawn.append((picture, svg.read_text(encoding="utf-8")))
        status.update("writing")
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / "tables.md", results_markdown(chosen, state.store))
        write_text(folder / "report.html", report_page(state, drawn))
    typer.echo(told(state, folder, len(drawn)))


def is_default(results: Path, experiments: Path, scale: str) -> bool:
    """Whether `exitwise reproduce` would look for the results there by itself."""
    return results.resolve() == (experiments / "results" / scale).resolve()


def check_folder(results: Path) -> None:
    """Whether there is a folder with results, before anything heavy is loaded."""
    if not results.is_dir():
        raise ExitwiseError(f"no folder {results}: name one that exitwise reproduce has written")
    if not any(results.glob("*.json")):
        raise ExitwiseError(f"{results} holds no result: exitwise reproduce writes them")


def check_results(state: "State", scale: str) -> None:
    """Whether any of the results is of these tables at this scale."""
    if not state.results and not state.failures:
        raise ExitwiseError(
            f"no file of {state.store.folder} is of a cell of the tables at the scale {scale!r}: "
            "name theirs with --overlay, and the encoders they were made with by --encoder"
        )


def told(state: "State", folder: Path, count: int) -> str:
    """Where everything is."""
    from exitwise.experiments.report.provenance import counts

    lines: Sequence[str] = (
        f"cells {counts(state)}",
        f"{folder / 'report.html'}",
        f"{folder / 'tables.md'}",
        f"{folder / 'figures'} ({count} pictures)",
    )
    return "\n".join(lines)
