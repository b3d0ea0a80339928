"""What `torch.compile` brings a gated training step.

The same batches of MRPC in one run, step by step in turn, each side with a model of its own. The
compiler's own time, in the first steps, is told beside the ratio.
"""

from harness import Claim, arguments, interleaved, seconds, write_claims
from steps import Steps, mrpc, prepared

from exitwise.encoders import layerwise
from exitwise.objectives import Objective
from exitwise.regimes import SingleExitRegime
from exitwise.training import compile_layers


def main() -> None:
    """Measures and writes `results/compile_step.json`."""
    options = arguments(__doc__, rounds=15)
    recipe = mrpc(options.encoder, options.data_dir, rows=540)
    material, depth = prepared(recipe)
    (stage,) = SingleExitRegime(objective=Objective.acl()).stages(depth)
    plain, compiled = (Steps(stage, recipe, material) for _ in range(2))
    compile_layers(layerwise(compiled.model.encoder).layers)
    first = seconds(compiled)
    for _ in range(compiled.num_batches):
        compiled()  # every length once
    ratio = interleaved(compiled, plain, rounds=options.rounds)
    claim = Claim(
        claim="exact gate, full model: step with training.compile against the step without",
        value=ratio.value,
        spread=(ratio.low, ratio.high),
        details={
            "seconds": ratio.first,
            "seconds of the other": ratio.second,
            "seconds of the first step": first,
        },
    )
    write_claims("compile_step", [claim])


if __name__ == "__main__":
    main()
