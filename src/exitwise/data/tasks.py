"""GLUE's seven classification tasks as records (STS-B and WNLI are left out, as in the paper)."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is known of a task.

    Attributes:
        name: as on the command line, and the configuration of the hub's set.
        folder: its folder in a local copy.
        text_column: of the texts, or of the first of each pair.
        pair_column: of the second of each pair.
        label_names: the classes, in GLUE's order.
        metric: the official one, a name of `exitwise.metrics.Metric`.
        sizes: rows of the official splits, training first, then validation, then test.
    """

    name: str
    folder: str
    text_column: str
    pair_column: str | None = None
    label_names: tuple[str, ...]
    metric: str = "accuracy"
    sizes: dict[str, int]

    @property
    def validation_splits(self) -> tuple[str, ...]:
        """The development sets; MNLI has two."""
        return tuple(split for split in self.sizes if split.startswith("validation"))


HUB_NAME = "nyu-mll/glue"

TASKS = {
    task.name: task
    for task in (
        Task(
            name="cola",
            folder="CoLA",
            text_column="sentence",
            label_names=("unacceptable", "acceptable"),
            metric="matthews",
            sizes={"train": 8551, "validation": 1043, "test": 1063},
        ),
        Task(
            name="sst2",
            folder="SST-2",
            text_column="sentence",
            label_names=("negative", "positive"),
            sizes={"train": 67349, "validation": 872, "test": 1821},
        ),
        Task(
            name="mrpc",
            folder="MRPC",
            text_column="sentence1",
            pair_column="sentence2",
            label_names=("not_equivalent", "equivalent"),
            metric="f1_accuracy",
            sizes={"train": 3668, "validation": 408, "test": 1725},
        ),
        Task(
            name="qqp",
            folder="QQP",
            text_column="question1",
            pair_column="question2",
            label_names=("not_duplicate", "duplicate"),
            metric="f1_accuracy",
            sizes={"train": 363846, "validation": 40430, "test": 390965},
        ),
        Task(
            name="mnli",
            folder="MNLI",
            text_column="premise",
            pair_column="hypothesis",
            label_names=("entailment", "neutral", "contradiction"),
            sizes={
                "train": 392702,
                "validation_matched": 9815,
                "validation_mismatched": 9832,
                "test_matched": 9796,
                "test_mismatched": 9847,
            },
        ),
        Task(
            name="qnli",
            folder="QNLI",
            text_column="question",
            pair_column="sentence",
            label_names=("entailment", "not_entailment"),
            sizes={"train": 104743, "validation": 5463, "test": 5463},
        ),
        Task(
            name="rte",
            folder="RTE",
            text_column="sentence1",
            pair_column="sentence2",
            label_names=("entailment", "not_entailment"),
            sizes={"train": 2490, "validation": 277, "test": 3000},
        ),
    )
}
