"""Data: from files and tasks to batches."""

from exitwise.data.batch_plan import BatchPlan, batch_plan
from exitwise.data.config import DataConfig
from exitwise.data.encoding import EncodedTexts, Row, encode_texts
from exitwise.data.glue import load_task, load_task_split
from exitwise.data.length_limit import length_limit, position_limit
from exitwise.data.load import load_splits, load_texts
from exitwise.data.padding import PadBatch
from exitwise.data.rows import TextRow
from exitwise.data.samples import MOVIE_LABELS, demo_encoder, movie_sentences
from exitwise.data.sampling import ClassBalancedSampler, LengthBucketSampler, class_weights
from exitwise.data.stream import count_rows, read_chunks
from exitwise.data.tasks import TASKS, Task
from exitwise.data.texts import Splits, TextDataset

__all__ = [
    "MOVIE_LABELS",
    "TASKS",
    "BatchPlan",
    "ClassBalancedSampler",
    "DataConfig",
    "EncodedTexts",
    "LengthBucketSampler",
    "PadBatch",
    "Row",
    "Splits",
    "Task",
    "TextDataset",
    "TextRow",
    "batch_plan",
    "class_weights",
    "count_rows",
    "demo_encoder",
    "encode_texts",
    "length_limit",
    "load_splits",
    "load_task",
    "load_task_split",
    "load_texts",
    "movie_sentences",
    "position_limit",
    "read_chunks",
]
