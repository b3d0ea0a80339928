"""`EarlyExitClassifier`: texts in; label, probability and layer out."""

import json
import logging
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from exitwise.bounds import check_at_least
from exitwise.columns import check_as_many, label_names, listed
from exitwise.errors import ExitwiseError, NotFittedError
from exitwise.inference import Answers, EarlyExit, Engine
from exitwise.inference.calibration_report import read_report
from exitwise.inference.hub import local_folder
from exitwise.inference.manifest import FILE as MANIFEST
from exitwise.inference.policy_file import read_policy, write_policy
from exitwise.policies import ExitPolicy, FixedPolicy

logger = logging.getLogger(__name__)

EngineName = Literal["auto", "torch", "onnx"]
DType = Literal["float32", "bfloat16", "float16"]
CALIBRATION_SHARE = 0.2


class Prediction(NamedTuple):
    """The answer to one text.

    Attributes:
        label: its class.
        probability: of that class, by the exit that the text left at.
        layer: the layer of that exit.
        by_layer: for each exit that the text passed, the probabilities of all classes.
    """

    label: str
    probability: float
    layer: int
    by_layer: dict[int, dict[str, float]]


class EarlyExitClassifier:
    """A text classifier that answers as soon as it is sure, with the habits of scikit-learn.

    `fit` trains one with sensible defaults; `from_pretrained` loads what `exitwise train` and
    `exitwise export` wrote. Without calibration every text runs to the last layer.

    Args:
        encoder: a folder or hub id of a pre-trained encoder, for `fit`.
        max_drop: how many points of accuracy early exit may lose, for `fit`.
        batch_size: rows of a batch.
        seed: of all that is drawn in `fit`.
        overrides: keys of the recipe for `fit`, as for `exitwise train --set`:
            `["regime.backbone.epochs=10"]`.

    Attributes:
        engine: what runs the layers; `None` before `fit`.
        policy: says who leaves.
    """

    def __init__(
        self,
        encoder: str = "sentence-transformers/all-MiniLM-L6-v2",
        *,
        max_drop: float = 1.0,
        batch_size: int = 32,
        seed: int = 42,
        overrides: Sequence[str] = (),
    ) -> None:
        self.encoder = encoder
        self.max_drop = max_drop
        self.batch_size = batch_size
        self.seed = seed
        self.overrides = overrides
        self._given: dict[str, Any] = {}  # labels of `fit` by the names that the model has for them
        self._report: dict[str, Any] | None = None  # of the calibration that chose the policy
        self.engine: Engine[Any] | None = None
        self.policy: ExitPolicy | None = None

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        engine: EngineName = "auto",
        device: str | None = None,
        dtype: DType = "float32",
        num_threads: int | None = None,
        policy: ExitPolicy | None = None,
        batch_size: int = 32,
    ) -> "EarlyExitClassifier":
        """A run, a model folder, an exported folder or a hub id.

        Args:
            name_or_path: where it is.
            engine: "auto" takes the exported graphs where there are some.
            device: "cpu" or "cuda"; a GPU if there is one, for PyTorch.
            dtype: of PyTorch's arithmetic; that of an exported folder was chosen by its export.
            num_threads: of exported graphs; ONNX Runtime takes all cores if `None`. For one short
                text at a time, one is as fast as several.
            policy: instead of the one that the model was calibrated with.
            batch_size: rows of a batch.

        Raises:
            ExitwiseError: there is no model, or its policy does not fit it.
        """
        found, folder = load_engine(name_or_path, engine, device, dtype, num_threads)
        chosen = policy or read_policy(folder, found)
        if chosen is None:
            logger.info("%s is not calibrated: every text runs to the last layer", name_or_path)
            chosen = FixedPolicy(layer=found.exit_layers[-1])
        classifier = cls(str(name_or_path), batch_size=batch_size)
        classifier.engine, classifier.policy = found, chosen
        classifier._report = None if policy else read_report(folder)
        classifier._router()  # refuses a policy that does not fit the model
        return classifier

    @property
    def classes_(self) -> ndarray:
        """The classes in their order: labels as `fit` was given them, or names of a saved model."""
        return np.array([self._given.get(name, name) for name in self._ready.labels])

    def fit(
        self,
        texts: Iterable[Any],
        labels: Iterable[Any],
        pairs: Iterable[Any] | None = None,
    ) -> "EarlyExitClassifier":
        """Trains on four fifths of the texts, and calibrates on the rest, for `max_drop`.

        Raises:
            ExitwiseError: texts, pairs and labels are not as many, or something is no text.
        """
        from exitwise.run.fit import (
            fit_classifier,
        )  # needs the train extra, which answering does not

        check_at_least(1, self, "batch_size")  # here, for a training is long
        given = listed(labels, "labels")
        self.engine, self.policy = fit_classifier(
            self.encoder,
            listed(texts, "texts"),
            given,
            None if pairs is None else listed(pairs, "pairs"),
            max_drop=self.max_drop,
            calibration_share=CALIBRATION_SHARE,
            seed=self.seed,
            overrides=self.overrides,
        )
        self._report = None
        self._given = {str(label): label for label in given}
        return self

    def predict(self, texts: Iterable[Any], pairs: Iterable[Any] | None = None) -> ndarray:
        """The classes, one a text."""
        found: ndarray = self.classes_[self.answers(texts, pairs).labels]
        return found

    def predict_proba(
        self, texts: Iterable[Any], pairs: Iterable[Any] | None = None
    ) -> Float[ndarray, "n k"]:
        """The probabilities of the classes, by the exit that each text leaves at."""
        return self.answers(texts, pairs).probabilities

    def predict_detailed(
        self, texts: Iterable[Any], pairs: Iterable[Any] | None = None
    ) -> list[Prediction]:
        """Label, probability and layer of each text, and what the exits before it said."""
        answers, router = self.answers(texts, pairs), self._router()
        names, layers = router.engine.labels, router.layers
        by_layer = np.exp(router.policy.log_probabilities(answers.logits, layers))
        return [
            Prediction(
                label=names[label],
                probability=float(probabilities[label]),
                layer=int(layer),
                by_layer={
                    each: dict(zip(names, said.tolist(), strict=True))
                    for each, said in zip(layers, by_layer[:, row], strict=True)
                    if each <= layer
                },
            )
            for row, (label, probabilities, layer) in enumerate(
                zip(answers.labels, answers.probabilities, answers.layers, strict=True)
            )
        ]

    def answers(self, texts: Iterable[Any], pairs: Iterable[Any] | None = None) -> Answers:
        """All of it as arrays."""
        router = self._router()
        second = None if pairs is None else listed(pairs, "pairs")
        return router(listed(texts, "texts"), second)

    def score(
        self, texts: Iterable[Any], labels: Iterable[Any], pairs: Iterable[Any] | None = None
    ) -> float:
        """The share of texts whose predicted class is their label.

        Raises:
            ExitwiseError: labels are not as many as texts, or one is the name of no class.
        """
        columns = {"text": listed(texts, "texts"), "label": listed(labels, "labels")}
        check_as_many(columns)
        known = self._ready.labels
        right = [known.index(name) for name in label_names(columns["label"], known)]
        return float(np.mean(self.answers(columns["text"], pairs).labels == np.array(right)))

    def save_pretrained(self, folder: str | Path) -> None:
        """Writes what `from_pretrained` reads."""
        engine = self._ready
        engine.save_pretrained(Path(folder))
        assert self.policy is not None
        write_policy(Path(folder), self.policy, calibration=self._report)

    def push_to_hub(self, repo_id: str, *, private: bool | None = None) -> str:
        """Uploads what `save_pretrained` writes; the address of the commit."""
        from huggingface_hub import HfApi

        api = HfApi()
        with tempfile.TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            api.create_repo(repo_id, private=private, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repo_id, folder_path=folder, commit_message="Upload an exitwise classifier"
            )
        return str(commit)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, as in scikit-learn."""
        names = ("encoder", "max_drop", "batch_size", "seed", "overrides")
        return {name: getattr(self, name) for name in names}

    def set_params(self, **settings: Any) -> "EarlyExitClassifier":  # noqa: ANN401 - scikit-learn's own
        """Changes arguments of the constructor, as in scikit-learn."""
        unknown = sorted(set(settings) - set(self.get_params()))
        if unknown:
            raise ValueError(f"no parameter {unknown[0]!r}: {json.dumps(list(self.get_params()))}")
        for name, value in settings.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> object:
        """What scikit-learn wants to know of a classifier; it alone asks."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    @property
    def _ready(self) -> Engine[Any]:
        if self.engine is None:
            raise NotFittedError("this classifier knows nothing yet: call fit or from_pretrained")
        return self.engine

    def _router(self) -> EarlyExit:
        """What answers, with the engine, policy and batch size of this moment."""
        engine = self._ready
        assert self.policy is not None  # set with the engine
        # A fixed layer asks no exit before it.
        layers = [self.policy.layer] if isinstance(self.policy, FixedPolicy) else None
        return EarlyExit(engine, self.policy, layers=layers, batch_size=self.batch_size)


def load_engine(
    name_or_path: str | Path,
    engine: str,
    device: str | None,
    dtype: str = "float32",
    num_threads: int | None = None,
) -> tuple[Engine[Any], Path]:
    """The engine that runs a model, and the folder that the model is in.

    Raises:
        ExitwiseError: no engine or dtype has that name, there is no model, it is not of the kind
            that the engine runs, or the number of threads cannot be chosen.
    """
    for name, given, known in (("engine", engine, EngineName), ("dtype", dtype, DType)):
        if given not in get_args(known):
            raise ExitwiseError(
                f"{name} must be one of {', '.join(get_args(known))}, found {given!r}"
            )
    folder = local_folder(name_or_path)
    is_exported = (folder / MANIFEST).exists()
    if is_exported and engine != "torch":
        from exitwise.inference.onnx_engine import OnnxEngine

        if dtype != "float32":
            raise ExitwiseError(
                f"{folder} was exported to ONNX: dtype is of PyTorch's arithmetic, that of graphs "
                "is chosen by export --int8"
            )
        return OnnxEngine(folder, device=device or "cpu", num_threads=num_threads), folder
    if is_exported:
        raise ExitwiseError(f"{folder} was exported to ONNX: PyTorch runs the run it came from")
    if engine == "onnx":
        raise ExitwiseError(f"{name_or_path} is not exported: exitwise export {name_or_path}")
    if num_threads is not None:
        raise ExitwiseError(
            f"{name_or_path} is not exported, and the number of threads is of exported graphs: "
            "PyTorch's is OMP_NUM_THREADS"
        )
    import torch

    from exitwise.inference.torch_engine import TorchEngine, model_folder

    kind: torch.dtype = getattr(torch, dtype)
    found = TorchEngine.from_pretrained(folder, device=device, dtype=kind)
    return found, Path(model_folder(folder))
