"""Export: a trained classifier as a folder that answers without torch, or as a shorter model.

`export_onnx` is in `exitwise.export.onnx`, which needs the onnx extra; `export_plain` does not.
"""

from exitwise.export.plain import export_plain

__all__ = ["export_plain"]
