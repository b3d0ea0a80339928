"""Calibration: temperatures, thresholds for a budget, and a promise that holds."""

from exitwise.calibration.calibrate import Calibration, calibrate, check_rows
from exitwise.calibration.promise import fewest_rows, p_value
from exitwise.calibration.search import Goal
from exitwise.calibration.temperature import fit_temperature

__all__ = [
    "Calibration",
    "Goal",
    "calibrate",
    "check_rows",
    "fewest_rows",
    "fit_temperature",
    "p_value",
]
