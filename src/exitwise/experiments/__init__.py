"""Experiments: the paper's tables as data, run at a scale, and what they say."""

from exitwise.experiments.cell import Cell
from exitwise.experiments.estimate import estimate
from exitwise.experiments.jobs import Job, failures, jobs
from exitwise.experiments.markdown import score_markdown
from exitwise.experiments.overlay import Overlay
from exitwise.experiments.plan import Experiments, Place, in_order
from exitwise.experiments.runner import Runner
from exitwise.experiments.runs import Runs
from exitwise.experiments.sources import check_sources
from exitwise.experiments.store import Store
from exitwise.experiments.table import Row, Table

__all__ = [
    "Cell",
    "Experiments",
    "Job",
    "Overlay",
    "Place",
    "Row",
    "Runner",
    "Runs",
    "Store",
    "Table",
    "check_sources",
    "estimate",
    "failures",
    "in_order",
    "jobs",
    "score_markdown",
]
