"""An epoch of ACL here against an epoch of cross-entropy with the stock Trainer.

The same pairs of MRPC, the same encoder, the same hardware, the same 18 texts a batch. The stock
side is what people run today: `AutoModelForSequenceClassification` and `transformers.Trainer`
with its defaults, in float32, batches in random order. Ours is the exact gate on encoder and last
exit as `exitwise train` sets it up. Neither evaluates nor saves. Epochs of both are timed in turn
on a seeded sample; texts are token ids already on both sides.
"""

import tempfile
from pathlib import Path

from harness import Claim, arguments, ratio_of, seconds, write_claims
from steps import MICRO_BATCH, Steps, mrpc, prepared
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

from exitwise.data import PadBatch
from exitwise.objectives import Objective
from exitwise.regimes import SingleExitRegime
from exitwise.run.material import Material

ROWS = 720


def stock_trainer(encoder: str, material: Material, folder: str) -> Trainer:
    """The stock Trainer on the stock classifier."""
    return Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=2),
        args=TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=MICRO_BATCH,
            num_train_epochs=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=material.train,
        data_collator=PadBatch(material.tokenizer),
    )


def main() -> None:
    """Measures and writes `results/acl_epoch.json`."""
    options = arguments(__doc__, rounds=3)
    recipe = mrpc(options.encoder, options.data_dir, rows=ROWS)
    material, depth = prepared(recipe)
    ours: dict[str, list[float]] = {"ACL": [], "cross-entropy": []}
    stock: list[float] = []
    objectives = {"ACL": Objective.acl(), "cross-entropy": Objective.cross_entropy()}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            stock.append(seconds(stock_trainer(options.encoder, material, folder).train))
            for name, objective in objectives.items():
                (stage,) = SingleExitRegime(objective=objective, epochs=1).stages(depth)
                steps = Steps(stage, recipe, material)
                steps.trainer.args.eval_strategy = steps.trainer.args.save_strategy = "no"
                ours[name].append(seconds(steps.trainer.train))
    claims = []
    for name, bar in (("ACL", 0.60), ("cross-entropy", None)):
        ratio = ratio_of(ours[name], stock)
        claims.append(
            Claim(
                claim=f"an epoch of {name} (full model) against a cross-entropy epoch of the stock "
                f"Trainer with its defaults, {ROWS} pairs of MRPC, batches of {MICRO_BATCH}",
                value=ratio.value,
                bar=bar,
                spread=(ratio.low, ratio.high),
                details={"seconds": ratio.first, "seconds of the other": ratio.second},
            )
        )
    write_claims(f"acl_epoch_{Path(options.encoder).name}", claims)


if __name__ == "__main__":
    main()
