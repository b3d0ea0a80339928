"""Experiments: what runs have shown, as tables."""

from exitwise.experiments.results import read_results, results_page

__all__ = ["read_results", "results_page"]
