"""What of the machine a run makes use of."""

import logging
import os

import joblib
import torch

from exitwise.training.settings import TrainingSettings, has_native_bfloat16, resolve_precision

logger = logging.getLogger(__name__)


def choose_hardware(settings: TrainingSettings) -> None:
    """Takes no more threads than there are cores for this process; says in the log what is used.

    PyTorch counts the machine's cores. A container may have the time of few of them, and threads
    that wait for each other on too few cores take many times as long. `OMP_NUM_THREADS` stands.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        cores = joblib.cpu_count(only_physical_cores=True)
        torch.set_num_threads(min(torch.get_num_threads(), cores))
    native = "has" if has_native_bfloat16() else "has not"
    if torch.cuda.is_available():
        device = torch.cuda.get_device_name()
    else:
        device = f"the processor, threads: {torch.get_num_threads()}"
    logger.info(
        "trains on %s, in %s (the device %s bfloat16 of its own)",
        device,
        resolve_precision(settings.precision),
        native,
    )
