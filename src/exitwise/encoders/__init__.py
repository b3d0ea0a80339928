"""Encoders of transformers, walked layer by layer."""

from exitwise.encoders.base import LayerState, LayerwiseEncoder, dense_layer_macs, positions
from exitwise.encoders.load import build_encoder, layerwise, load_encoder, truncate
from exitwise.encoders.mpnet import MPNetEncoder
from exitwise.encoders.plain import DistilBertEncoder, PlainEncoder, RobertaEncoder

__all__ = [
    "DistilBertEncoder",
    "LayerState",
    "LayerwiseEncoder",
    "MPNetEncoder",
    "PlainEncoder",
    "RobertaEncoder",
    "build_encoder",
    "dense_layer_macs",
    "layerwise",
    "load_encoder",
    "positions",
    "truncate",
]
