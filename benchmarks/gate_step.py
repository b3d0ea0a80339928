"""What the exact gate costs a training step.

Both sides take the same batches of MRPC in one run, step by step in turn, each with a model of
its own: forward, backward passes, gate, clipping and optimiser as in `exitwise train`. The floor
of a gated step on the full model is (F + 2B) / (F + B) = 1.67 of a plain one.
"""

from dataclasses import replace

from harness import Claim, Ratio, arguments, interleaved, write_claims
from steps import Steps, mrpc, prepared

from exitwise.objectives import Objective
from exitwise.regimes import ExitsRegime, JointRegime, SingleExitRegime


def main() -> None:
    """Measures and writes `results/gate_step.json`."""
    options = arguments(__doc__, rounds=30)
    recipe = mrpc(options.encoder, options.data_dir, rows=540)
    material, depth = prepared(recipe)

    def full(objective: Objective) -> Steps:
        (stage,) = SingleExitRegime(objective=objective).stages(depth)
        return Steps(stage, recipe, material)

    def frozen(objective: Objective, *, cached: bool) -> Steps:
        (stage,) = ExitsRegime(objective=objective).stages(depth)
        return Steps(stage, recipe, material, cached=cached)

    def claim(words: str, ratio: Ratio, bar: float | None = None) -> Claim:
        details = {"seconds": ratio.first, "seconds of the other": ratio.second}
        spread = (ratio.low, ratio.high)
        return Claim(claim=words, value=ratio.value, bar=bar, spread=spread, details=details)

    acl, acl_cl = Objective.acl(), Objective.acl_cl()
    rounds = options.rounds
    plain, gated = full(Objective.cross_entropy()), full(acl)
    claims = [
        claim(
            "exact gate, full model: step against the cross-entropy step",
            interleaved(gated, plain, rounds=rounds),
            1.70,
        )
    ]
    ungated = full(replace(acl, gate=None))
    words = "exact gate, full model: step against the ungated step of the combined loss"
    claims.append(claim(words, interleaved(gated, ungated, rounds=rounds)))
    (stage,) = JointRegime().stages(depth)
    joint = Steps(stage, recipe, material)
    words = "joint training of all exits: step against the cross-entropy step of the last exit"
    claims.append(claim(words, interleaved(joint, plain, rounds=rounds)))
    del plain, gated, ungated, joint
    for cached, bar in ((False, 1.10), (True, None)):
        pair = [frozen(each, cached=cached) for each in (acl_cl, replace(acl_cl, gate=None))]
        where = "hidden states kept" if cached else "the encoder's forward pass included"
        words = f"exact gate, frozen encoder, all exits: step against ungated, {where}"
        claims.append(claim(words, interleaved(*pair, rounds=rounds), bar))
    write_claims("gate_step", claims)


if __name__ == "__main__":
    main()
