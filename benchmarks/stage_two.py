"""Stage 2 against one exit at a time, and against its own floor.

Stage 2 runs whole: one pass of the frozen encoder over 256 pairs of MRPC, then 15 epochs of
ACL-CL, gate and soft targets for all exits but the last. The other way, one exit after the other
with the encoder recomputed in every step, would take an hour or more; its steps are timed on
every exit in turn, and multiplied by their number. The floor is one pass of the encoder and, for
every batch, one forward pass, the three backward passes of all exits and the optimiser's step:
no gate, no clipping, no Trainer.
"""

import statistics
from dataclasses import replace
from pathlib import Path

from harness import Claim, arguments, ratio_of, seconds, write_claims
from steps import Steps, mrpc, prepared

from exitwise.recipe import Recipe
from exitwise.regimes import ExitsRegime, Stage
from exitwise.run.material import Material

ROWS = 256
EPOCHS = 15
TIMED_STEPS = 2  # of each exit and round


class Whole:
    """All of stage 2: the encoder's pass, then all epochs."""

    def __init__(self, stage: Stage, recipe: Recipe, material: Material) -> None:
        self.stage = stage
        self.recipe = recipe
        self.material = material

    def train(self) -> None:
        """With the Trainer."""
        steps = Steps(self.stage, self.recipe, self.material, cached=True)
        steps.trainer.args.eval_strategy = "no"
        steps.trainer.args.save_strategy = "no"
        steps.trainer.train()

    def floor(self) -> None:
        """The least that the same passes take."""
        steps = Steps(self.stage, self.recipe, self.material, cached=True)
        trainer, layers = steps.trainer, self.stage.layers
        trainer.set_modes(layers)
        batches = list(trainer.get_train_dataloader())
        for batch in batches * EPOCHS:
            with trainer.accelerator.autocast():
                terms = trainer.losses(batch, layers)
            assert terms.auxiliary is not None
            assert terms.soft_targets is not None
            terms.soft_targets.backward(retain_graph=True)
            terms.auxiliary.backward(retain_graph=True)
            terms.primary.backward()
            steps.optimizer.step()
            steps.model.zero_grad()


def main() -> None:
    """Measures and writes `results/stage_two_ENCODER.json`."""
    options = arguments(__doc__, rounds=3)
    recipe = mrpc(options.encoder, options.data_dir, rows=ROWS)
    material, depth = prepared(recipe)
    (stage,) = ExitsRegime(epochs=EPOCHS, learning_rate=1e-3).stages(depth)
    whole = Whole(stage, recipe, material)
    one_by_one = [Steps(single_exit(stage, layer), recipe, material) for layer in range(1, depth)]
    for steps in one_by_one:
        steps()
    fast, slow, floor = [], [], []
    for _ in range(options.rounds):
        fast.append(seconds(whole.train))
        each = [
            statistics.fmean(seconds(steps) for _ in range(TIMED_STEPS)) for steps in one_by_one
        ]
        slow.append(sum(each) * EPOCHS * one_by_one[0].num_batches)
        floor.append(seconds(whole.floor))
    against_single, against_floor = ratio_of(slow, fast), ratio_of(fast, floor)
    claims = [
        Claim(
            claim=f"one exit at a time with the encoder recomputed, against whole stage 2 "
            f"({depth} layers, {ROWS} rows, {EPOCHS} epochs)",
            value=against_single.value,
            bar=20 if depth <= 6 else 60,
            at_least=True,
            spread=(against_single.low, against_single.high),
            details={
                "seconds of stage 2": against_single.second,
                "seconds of the other, from timed steps": against_single.first,
            },
        ),
        Claim(
            claim=f"stage 2 against its floor ({depth} layers, {ROWS} rows, {EPOCHS} epochs)",
            value=against_floor.value,
            bar=1.5,
            spread=(against_floor.low, against_floor.high),
            details={"seconds of the floor": against_floor.second},
        ),
    ]
    write_claims(f"stage_two_{Path(options.encoder).name}", claims)


def single_exit(stage: Stage, layer: int) -> Stage:
    """The same stage for one exit."""
    return replace(stage, schedule=((layer,),))


if __name__ == "__main__":
    main()
