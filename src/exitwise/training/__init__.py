"""Training: one stage is one run of a Trainer."""

from exitwise.training.aligned import AlignedTrainer
from exitwise.training.cache_place import (
    CacheSettings,
    cache_name,
    choose_place,
    parse_bytes,
    stage_bytes,
)
from exitwise.training.compiled import compile_layers
from exitwise.training.dropout import use_fast_dropout
from exitwise.training.evaluation import (
    ExitPredictions,
    average_score,
    exit_scores,
    warn_of_constant_exits,
)
from exitwise.training.gate_log import GateLog
from exitwise.training.hardware import choose_hardware
from exitwise.training.hidden_states import (
    FrozenHiddenStates,
    cache_hidden_states,
    pad_hidden_states,
)
from exitwise.training.optimizer import grouped_optimizer
from exitwise.training.settings import (
    Precision,
    TrainingSettings,
    dtype_of,
    resolve_precision,
    stage_arguments,
    training_arguments,
)
from exitwise.training.timings import Timings
from exitwise.training.trainer import Collate, MultiExitTrainer, Rows

__all__ = [
    "AlignedTrainer",
    "CacheSettings",
    "Collate",
    "ExitPredictions",
    "FrozenHiddenStates",
    "GateLog",
    "MultiExitTrainer",
    "Precision",
    "Rows",
    "Timings",
    "TrainingSettings",
    "average_score",
    "cache_hidden_states",
    "cache_name",
    "choose_hardware",
    "choose_place",
    "compile_layers",
    "dtype_of",
    "exit_scores",
    "grouped_optimizer",
    "pad_hidden_states",
    "parse_bytes",
    "resolve_precision",
    "stage_arguments",
    "stage_bytes",
    "training_arguments",
    "use_fast_dropout",
    "warn_of_constant_exits",
]
