"""Data: from files and tasks to batches."""

from exitwise.data.batch_plan import BatchPlan, batch_plan
from exitwise.data.encoding import EncodedTexts, Row, encode_texts
from exitwise.data.length_limit import length_limit
from exitwise.data.padding import PadBatch
from exitwise.data.sampling import ClassBalancedSampler, LengthBucketSampler, class_weights

__all__ = [
    "BatchPlan",
    "ClassBalancedSampler",
    "EncodedTexts",
    "LengthBucketSampler",
    "PadBatch",
    "Row",
    "batch_plan",
    "class_weights",
    "encode_texts",
    "length_limit",
]
