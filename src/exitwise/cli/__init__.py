"""The command line: one small file a command. Nothing heavy is imported before a command runs."""

from exitwise.cli.app import main

__all__ = ["main"]
