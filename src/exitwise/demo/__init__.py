"""The demo: a classifier of movie sentences, from nothing, in a few minutes."""

from exitwise.demo.baseline import TFIDF, tfidf_scores
from exitwise.demo.curve import draw_curve
from exitwise.demo.recipe import demo_recipe

__all__ = ["TFIDF", "demo_recipe", "draw_curve", "tfidf_scores"]
