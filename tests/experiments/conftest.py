"""Where the experiments of the repository are."""

from pathlib import Path

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
