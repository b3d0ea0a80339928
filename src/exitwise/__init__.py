"""Aligned contrastive learning and early exit for BERT-family classifiers."""

__version__ = "0.1.0"
