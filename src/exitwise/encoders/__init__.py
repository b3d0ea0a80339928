"""Encoders of transformers, walked layer by layer."""

from exitwise.encoders.albert import AlbertEncoder
from exitwise.encoders.base import LayerState, LayerwiseEncoder, positions
from exitwise.encoders.deberta import DebertaEncoder
from exitwise.encoders.families import FAMILIES, layerwise, register
from exitwise.encoders.heads import attention_of, check_heads_are_apart, kept_heads, set_kept_heads
from exitwise.encoders.load import (
    build_encoder,
    keep_heads,
    let_go_of_pooler,
    load_encoder,
    truncate,
)
from exitwise.encoders.macs import dense_layer_macs
from exitwise.encoders.modernbert import ModernBertEncoder
from exitwise.encoders.mpnet import MPNetEncoder
from exitwise.encoders.plain import DistilBertEncoder, PlainEncoder, RobertaEncoder
from exitwise.encoders.weights import check_complete, load_weights

__all__ = [
    "FAMILIES",
    "AlbertEncoder",
    "DebertaEncoder",
    "DistilBertEncoder",
    "LayerState",
    "LayerwiseEncoder",
    "MPNetEncoder",
    "ModernBertEncoder",
    "PlainEncoder",
    "RobertaEncoder",
    "attention_of",
    "build_encoder",
    "check_complete",
    "check_heads_are_apart",
    "dense_layer_macs",
    "keep_heads",
    "kept_heads",
    "layerwise",
    "let_go_of_pooler",
    "load_encoder",
    "load_weights",
    "positions",
    "register",
    "set_kept_heads",
    "truncate",
]
