"""GLUE's seven classification tasks as records (STS-B and WNLI are left out, as in the paper)."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is known of a task.

    Attributes:
        name: as on the command line, and the configuration of the hub's set.
        folder: its folder in a local copy.
        columns: of the text, or of the text and its pair.
        labels: the names of the classes, in GLUE's order.
        metric: the official one, a name of `exitwise.metrics.Metric`.
        sizes: rows of the official splits, training first.
    """

    name: str
    folder: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    metric: str
    sizes: dict[str, int]

    @property
    def validation_splits(self) -> tuple[str, ...]:
        """The development sets; MNLI has two."""
        return tuple(split for split in self.sizes if split.startswith("validation"))


HUB_NAME = "nyu-mll/glue"

_PAIR = ("sentence1", "sentence2")
_ENTAILMENT = ("entailment", "not_entailment")

TASKS = {
    task.name: task
    for task in (
        Task(
            name="cola",
            folder="CoLA",
            columns=("sentence",),
            labels=("unacceptable", "acceptable"),
            metric="matthews",
            sizes={"train": 8551, "validation": 1043},
        ),
        Task(
            name="sst2",
            folder="SST-2",
            columns=("sentence",),
            labels=("negative", "positive"),
            metric="accuracy",
            sizes={"train": 67349, "validation": 872},
        ),
        Task(
            name="mrpc",
            folder="MRPC",
            columns=_PAIR,
            labels=("not_equivalent", "equivalent"),
            metric="f1_accuracy",
            sizes={"train": 3668, "validation": 408},
        ),
        Task(
            name="qqp",
            folder="QQP",
            columns=("question1", "question2"),
            labels=("not_duplicate", "duplicate"),
            metric="f1_accuracy",
            sizes={"train": 363846, "validation": 40430},
        ),
        Task(
            name="mnli",
            folder="MNLI",
            columns=("premise", "hypothesis"),
            labels=("entailment", "neutral", "contradiction"),
            metric="accuracy",
            sizes={
                "train": 392702,
                "validation_matched": 9815,
                "validation_mismatched": 9832,
            },
        ),
        Task(
            name="qnli",
            folder="QNLI",
            columns=("question", "sentence"),
            labels=_ENTAILMENT,
            metric="accuracy",
            sizes={"train": 104743, "validation": 5463},
        ),
        Task(
            name="rte",
            folder="RTE",
            columns=_PAIR,
            labels=_ENTAILMENT,
            metric="accuracy",
            sizes={"train": 2490, "validation": 277},
        ),
    )
}
