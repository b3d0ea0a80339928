"""Exits: the classifiers that sit after the layers of an encoder."""

from exitwise.exits.base import EXITS, Exit, ExitConfig, first_token, outputs_together
from exitwise.exits.linear import LinearExit, LinearExitConfig
from exitwise.exits.mha import MHAExit, MHAExitConfig
from exitwise.exits.pooler import PoolerExit, PoolerExitConfig
from exitwise.exits.settings import build_exit, exit_config, exit_settings

__all__ = [
    "EXITS",
    "Exit",
    "ExitConfig",
    "LinearExit",
    "LinearExitConfig",
    "MHAExit",
    "MHAExitConfig",
    "PoolerExit",
    "PoolerExitConfig",
    "build_exit",
    "exit_config",
    "exit_settings",
    "first_token",
    "outputs_together",
]
