"""Whether a GPU computes what the processor computes, before anything is timed on it.

One gated step of ACL in float32, without dropout, from equal weights on equal batches of MRPC: the
decisions have to be the same and the gradients close. While the backward passes and the decision
are queued, torch refuses any call that would make the host wait for the GPU.
"""

import argparse
import copy
import sys

import torch
from steps import mrpc, prepared
from torch import Tensor

from exitwise.data import PadBatch
from exitwise.gradients import GatedBackward, GateReport
from exitwise.modeling import MultiExitForSequenceClassification
from exitwise.objectives import Objective

TOLERANCE = 1e-3
"""Of the largest gradient of a parameter: the two sides add in another order."""


def step(
    model: MultiExitForSequenceClassification, batch: dict[str, Tensor], device: str
) -> tuple[GateReport, dict[str, Tensor]]:
    """The decision and the gradients of one gated step."""
    model = copy.deepcopy(model).to(device).eval()
    batch = {name: tensor.to(device) for name, tensor in batch.items()}
    labels = batch.pop("labels")
    layer = model.exit_layers[-1]
    objective = Objective.acl()
    terms = objective(model.exit_outputs(**batch, layers=(layer,))[layer], labels)
    backward = GatedBackward(
        {"all": model.parameters()}, weight=objective.weight, gate=objective.gate
    )
    is_gpu = device == "cuda"
    if is_gpu:
        torch.cuda.set_sync_debug_mode("error")
    decisions = backward(terms.primary, terms.auxiliary)
    if is_gpu:
        torch.cuda.set_sync_debug_mode("default")
    gradients = {
        name: parameter.grad.cpu()
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }
    return decisions["all"], gradients


def main() -> None:
    """Compares, and ends with status 1 if the two differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--encoder", default="models/all-MiniLM-L6-v2")
    parser.add_argument("--data-dir", default="../shared/glue")
    parser.add_argument("--device", default="cuda", help="what is compared with the processor")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    material, _ = prepared(mrpc(options.encoder, options.data_dir, rows=180))
    pad = PadBatch(material.tokenizer)
    for start in range(0, 180, 18):
        batch = pad([material.train[row] for row in range(start, start + 18)])
        (report, expected), (other, found) = (
            step(material.model, batch, device) for device in ("cpu", options.device)
        )
        worst = max(
            (found[name] - expected[name]).abs().max() / expected[name].abs().max().clamp(min=1e-8)
            for name in expected
        )
        print(
            f"angle {report.angle:7.3f} and {other.angle:7.3f}, gradients differ by {worst:.1e}",
            flush=True,
        )
        if report.is_open != other.is_open or found.keys() != expected.keys() or worst > TOLERANCE:
            sys.exit(f"{options.device} does not compute what the processor computes")


if __name__ == "__main__":
    main()
