"""The report: one page that opens from disk, and the same in Markdown."""

from exitwise.experiments.report.commands import Commands
from exitwise.experiments.report.page import report_page
from exitwise.experiments.report.state import State
from exitwise.experiments.report.summary import results_markdown

__all__ = ["Commands", "State", "report_page", "results_markdown"]
