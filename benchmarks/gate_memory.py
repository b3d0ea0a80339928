"""What the gated step holds beside `p.grad`, in copies of the gradients.

The bytes that PyTorch's allocator has given out are followed through an update of three
micro-batches, for cross-entropy and for the exact gate on the same batches; the claim is the
difference of the two peaks. Activations are in both.
"""

import torch
from harness import Claim, arguments, peak_bytes, write_claims
from steps import Steps, mrpc, prepared

from exitwise.objectives import Objective
from exitwise.regimes import SingleExitRegime

MICRO_BATCHES = 3


def peak_of_update(steps: Steps) -> int:
    """The most bytes given out at one time during an update, beyond those before it."""

    def passes() -> None:
        for _ in range(MICRO_BATCHES):
            steps.backward()

    peak = peak_bytes(passes)
    steps.update()
    return peak


def main() -> None:
    """Measures and writes `results/gate_memory.json`."""
    options = arguments(__doc__, rounds=1)
    recipe = mrpc(options.encoder, options.data_dir, rows=54)
    material, depth = prepared(recipe)
    peaks = {}
    for name, objective in (("ce", Objective.cross_entropy()), ("acl", Objective.acl())):
        (stage,) = SingleExitRegime(objective=objective).stages(depth)
        steps = Steps(stage, recipe, material)
        steps()  # the optimiser's state exists from here on
        peaks[name] = peak_of_update(steps)
        gradients = sum(
            parameter.nbytes for parameter in steps.model.parameters() if parameter.requires_grad
        )
        del steps
    claims = [
        Claim(
            claim="peak memory of the gated step above that of the cross-entropy step "
            f"({MICRO_BATCHES} micro-batches an update)",
            value=(peaks["acl"] - peaks["ce"]) / gradients,
            bar=1.0,
            unit=" copies of the gradients",
            details={
                "MB of the gradients": gradients / 1e6,
                "MB at the peak, cross-entropy": peaks["ce"] / 1e6,
                "MB at the peak, gated": peaks["acl"] / 1e6,
            },
        )
    ]
    write_claims("gate_memory", claims)


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
