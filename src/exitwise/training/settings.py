"""How a stage is run: what the paper fixes for all regimes, and what the machine offers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import TrainingArguments

from exitwise.bounds import check_at_least
from exitwise.data import BatchPlan
from exitwise.regimes import Stage

Precision = Literal["auto", "bf16", "fp16", "fp32"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """The hyper-parameters of section 7.1 that no stage changes.

    Attributes:
        micro_batch: samples of one forward pass, N of the contrastive loss; `None` follows the
            batch plan (about 200 updates an epoch, at most 32 samples).
        accumulation: micro-batches of one update; `None` follows the batch plan.
        weight_decay: of AdamW, not on biases and norms; W is decayed.
        warmup: share of the updates over which the rate rises; then it falls linearly to 0.
        max_grad_norm: clips the combined gradient, in a frozen stage that of each exit.
        precision: "auto" is bfloat16 where the processor has it, else float32.
        checkpoint: "last" keeps the last epoch (the paper), "best" the best on validation.
        early_stopping: stop after so many epochs without a better score; needs "best".
        class_weights: weigh cross-entropy by inverse class frequency; contrast stays as it is.
        compile: `torch.compile` for the encoder's layers; what it brings stands in
            docs/performance.md.
        report_to: where transformers logs to besides the run folder, such as "tensorboard".
    """

    micro_batch: int | None = None
    accumulation: int | None = None
    weight_decay: float = 0.01
    warmup: float = 0.1
    max_grad_norm: float = 1.0
    precision: Precision = "auto"
    checkpoint: Literal["last", "best"] = "last"
    early_stopping: int | None = None
    class_weights: bool = False
    compile: bool = False
    report_to: str = "none"

    def __post_init__(self) -> None:
        check_at_least(1, self, "micro_batch", "accumulation", "early_stopping")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup is a share from 0 up to 1, found {self.warmup}")
        if self.early_stopping and self.checkpoint == "last":
            raise ValueError("early_stopping needs checkpoint = 'best', found 'last'")


def has_native_bfloat16() -> bool:
    """Whether the processor that trains multiplies bfloat16 itself; elsewhere it is slower."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if torch.accelerator.is_available():
        return False
    features = torch.cpu.get_capabilities()
    return any(bool(features.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def resolve_precision(precision: Precision) -> Precision:
    """What "auto" means on this machine."""
    if precision != "auto":
        return precision
    return "bf16" if has_native_bfloat16() else "fp32"


def dtype_of(precision: Precision) -> torch.dtype:
    """The type in which matrices are multiplied."""
    dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    return dtypes[resolve_precision(precision)]


def stage_arguments(
    stage: Stage, settings: TrainingSettings, plan: BatchPlan, *, folder: Path, seed: int
) -> TrainingArguments:
    """The arguments of the Trainer run that is this stage: measured and kept after each epoch."""
    best = settings.checkpoint == "best"
    return training_arguments(
        settings,
        plan,
        epochs=stage.epochs,
        learning_rate=stage.learning_rate,
        folder=folder,
        seed=seed,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2 if best else 1,
        load_best_model_at_end=best,
        metric_for_best_model="score" if best else None,
        greater_is_better=True if best else None,
    )


def training_arguments(
    settings: TrainingSettings,
    plan: BatchPlan,
    *,
    epochs: int,
    learning_rate: float,
    folder: Path,
    seed: int,
    eval_strategy: str = "no",
    save_strategy: str = "no",
    **others: Any,  # noqa: ANN401 - as transformers names them
) -> TrainingArguments:
    """The arguments of a Trainer run; without further ones it measures and keeps nothing."""
    precision = resolve_precision(settings.precision)
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=epochs,
        per_device_train_batch_size=plan.micro_batch,
        gradient_accumulation_steps=plan.accumulation,
        per_device_eval_batch_size=64,
        learning_rate=learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        use_cpu=not torch.accelerator.is_available(),
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        eval_strategy=eval_strategy,
        save_strategy=save_strategy,
        logging_steps=50,
        logging_nan_inf_filter=False,  # would wait for the device at each step, to hide a NaN
        remove_unused_columns=False,
        report_to=settings.report_to,
        seed=seed,
        data_seed=seed,
        disable_tqdm=True,
        dataloader_pin_memory=torch.cuda.is_available(),
        **others,
    )
