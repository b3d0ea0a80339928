"""Runs: a recipe trained into a folder."""

from exitwise.run.folder import RunFolder, run_of
from exitwise.run.material import planned_stages
from exitwise.run.measure import measure
from exitwise.run.train import train

__all__ = ["RunFolder", "measure", "planned_stages", "run_of", "train"]
