"""`exitwise reproduce`: tables of the paper, as far as they are not run yet."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exitwise.cli import recipe_options as options
from exitwise.cli.recipe_options import integers
from exitwise.cli.reports import other_libraries_quiet, reports
from exitwise.errors import ExitwiseError

if TYPE_CHECKING:
    from exitwise.experiments import Experiments, Job, Place, Runs, Store

Folder = Annotated[
    Path, typer.Option("--experiments", help="Where tables/, recipes/ and overlays/ are.")
]
OverlayName = Annotated[str, typer.Option("--overlay", help="The scale: a file of overlays/.")]
Encoders = Annotated[
    list[str] | None,
    typer.Option("--encoder", help="NAME=PATH: another encoder in place of the overlay's."),
]


def reproduce(
    tables: Annotated[list[str], typer.Argument(help="Such as table2 figure3, or all.")],
    overlay: OverlayName = "small",
    data_dir: options.DataDir = None,
    experiments: Folder = Path("experiments"),
    results: Annotated[
        Path | None, typer.Option(help="By default EXPERIMENTS/results/OVERLAY.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Where models are while needed; runs/OVERLAY by default.")
    ] = None,
    encoder: Encoders = None,
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, such as mrpc,rte.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Only these seeds, such as 1,2.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what has failed.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only tell what would be run.")] = False,
) -> None:
    """Runs what is missing of some tables; it can be stopped at any time, and goes on then."""
    with other_libraries_quiet():
        from exitwise.cli.progress import stage_progress
        from exitwise.experiments import (
            Experiments,
            Runner,
            Runs,
            Store,
            check_sources,
            failures,
            jobs,
        )

        chosen = Experiments.read(experiments, overlay).narrowed(
            encoders=encoders_of(encoder or []),
            tasks=None if tasks is None else tasks.split(","),
            seeds=None if seeds is None else integers(seeds, option="--seeds", example="1,2"),
        )
        chosen.check_runs(tables)
        store = Store(results or experiments / "results" / overlay)
        places, everywhere = list(chosen.places(tables)), list(chosen.places())
        wanted = jobs(places, store, retry=retry)
        models = Runs(runs or Path("runs") / overlay)
        tell_plan(places, everywhere, wanted, store, models)
        if plan:
            list_jobs(wanted)
            return
        check_sources((job.cell for job in wanted), chosen.overlay, data_dir)
        try:
            with stage_progress() as progress:
                runner = Runner(
                    store,
                    models,
                    data_dir,
                    places=everywhere,
                    angle_batches=chosen.overlay.angle_batches,
                    callbacks=[progress],
                )
                runner.run(wanted, lambda job: reports.print(f"[bold]{job.cell.name}"))
        except KeyboardInterrupt:
            typer.echo("exitwise: stopped; the same command goes on", err=True)
            raise typer.Exit(130) from None
        show_tables(chosen, tables, store)
    failed = failures(wanted, store)
    if failed:
        raise ExitwiseError(
            f"{len(failed)} failed, {failed[0]['cell']} first; why stands in "
            f"{store.folder}/*.failed.json, and --retry tries again"
        )


def encoders_of(pairs: Sequence[str]) -> dict[str, str]:
    """From `NAME=PATH` to paths by name."""
    found = dict(pair.partition("=")[::2] for pair in pairs)
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        raise ExitwiseError(f"--encoder reads NAME=PATH, found {wrong[0]!r}")
    return found


def tell_plan(
    places: "Sequence[Place]",
    everywhere: "Sequence[Place]",
    wanted: "Sequence[Job]",
    store: "Store",
    runs: "Runs",
) -> None:
    """How many cells there are, done, failed and to run, and how long that may take.

    Then the same of what is looked up in finished models, if the tables show such a thing.

    Args:
        places: of the tables that are asked for.
        everywhere: those of all tables, whose results tell how long a cell takes.
        wanted: what is missing.
        store: the results.
        runs: the models.
    """
    from exitwise.experiments import estimate, in_order

    cells = in_order(place.cell for place in places)
    to_run = sum(not job.is_trained for job in wanted)
    known = in_order(place.cell for place in everywhere)
    seconds, unknown = estimate(wanted, known, store, runs)
    typer.echo(
        f"{len(cells)} cells: {counts([(cell.key, None) for cell in cells], store)}, "
        f"{to_run} to run; about {seconds / 60:.0f} minutes"
        + (f" and {unknown} not known yet" if unknown else "")
    )
    looks = {(p.cell.key, p.observation) for p in places if p.observation is not None}
    if looks:
        to_look_up = sum(len(job.observations) for job in wanted)
        typer.echo(f"{len(looks)} observations: {counts(looks, store)}, {to_look_up} to look up")


def counts(parts: Collection[tuple[str, str | None]], store: "Store") -> str:
    """How many cells or observations are done, and how many failed."""
    done = sum(store.has(*part) for part in parts)
    failed = sum(store.failure(*part) is not None for part in parts)
    return f"{done} done, {failed} failed"


def list_jobs(wanted: "Sequence[Job]") -> None:
    """What would be run, in its order."""
    for job in wanted:
        looks = "".join(f", {observation}" for observation in job.observations)
        typer.echo(f"{job.cell.key}  {job.cell.name}{looks}")


def show_tables(experiments: "Experiments", tables: Sequence[str], store: "Store") -> None:
    """The tables as they stand, in Markdown."""
    from exitwise.experiments import score_markdown

    for name, table in experiments.chosen(tables).items():
        typer.echo(f"\n{table.source}: {table.title}\n")
        typer.echo(score_markdown(experiments, name, store))
