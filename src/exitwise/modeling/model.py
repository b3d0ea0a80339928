"""The classifier: an encoder of transformers with an exit after its layers."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from exitwise.encoders import (
    build_encoder,
    layerwise,
    let_go_of_pooler,
    load_encoder,
    truncate,
)
from exitwise.exits import (
    Exit,
    ExitConfig,
    MHAExitConfig,
    build_exit,
    exit_settings,
    outputs_together,
)
from exitwise.modeling.config import MultiExitConfig
from exitwise.modeling.label_count import check_label_count
from exitwise.modeling.model_card import write_model_card
from exitwise.outputs import ExitOutput


class MultiExitForSequenceClassification(PreTrainedModel):
    """A text classifier whose encoder can answer after every layer.

    `from_encoder` puts fresh exits on a pre-trained encoder, `from_pretrained` loads what was
    saved. The last exit answers where one answer is asked for (`forward`, pipelines).

    Attributes:
        encoder: the module of transformers, without its pooler.
        exits: the exits by layer, as text: "1" … "M".
    """

    config: MultiExitConfig
    config_class = MultiExitConfig
    base_model_prefix = "encoder"
    accepts_loss_kwargs = False  # the loss of a micro-batch is its own mean
    supports_gradient_checkpointing = True  # the encoder's layers are the library's own
    _supports_sdpa = True
    _supports_attention_backend = True

    def __init__(self, config: MultiExitConfig) -> None:
        super().__init__(config)
        self.num_labels = len(config.label_names)
        self.encoder = build_encoder(config.encoder_config)
        self.exits = self._fresh_exits()
        self.post_init()

    @property
    def num_layers(self) -> int:
        """M, the layers of the encoder."""
        return int(self.config.num_hidden_layers)

    @property
    def exit_layers(self) -> tuple[int, ...]:
        """The layers that have an exit, in ascending order."""
        return tuple(int(layer) for layer in self.exits)

    @property
    def num_exit_parameters(self) -> dict[int, int]:
        """The size of each exit, by layer; that of a whole model is `num_parameters()`."""
        return {
            layer: sum(each.numel() for each in self.exit(layer).parameters())
            for layer in self.exit_layers
        }

    def exit(self, layer: int) -> Exit:
        """The exit after a layer."""
        if str(layer) not in self.exits:
            there = _in_words(self.exit_layers)
            raise ValueError(f"no exit at layer {layer}: this model has exits at {there}")
        module = self.exits[str(layer)]
        assert isinstance(module, Exit)
        return module

    def exit_outputs(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"] | None = None,
        token_type_ids: Int[Tensor, "n l"] | None = None,
        *,
        layers: Sequence[int] | None = None,
    ) -> dict[int, ExitOutput]:
        """What the exits at some layers say, by layer; all exits if `None`.

        One walk over the encoder, which ends at the deepest layer asked for.
        """
        chosen = self.exit_layers if layers is None else layers
        hidden, mask = self.hidden_states(input_ids, attention_mask, token_type_ids, layers=chosen)
        return self.exits_from_hidden(hidden, mask)

    def hidden_states(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"] | None = None,
        token_type_ids: Int[Tensor, "n l"] | None = None,
        *,
        layers: Sequence[int],
    ) -> tuple[dict[int, Float[Tensor, "n l d"]], Int[Tensor, "n l"] | Bool[Tensor, "n l"]]:
        """The states after some layers, by layer in ascending order, and the mask."""
        for layer in layers:
            self.exit(layer)  # the error names the layers that there are
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        walk = layerwise(self.encoder)
        state = walk.embed(input_ids, mask, token_type_ids)
        hidden = {}
        for layer in range(1, max(layers, default=0) + 1):
            state = walk.run_layer(layer, state)
            if layer in layers:
                hidden[layer] = state.hidden
        return hidden, mask

    def exits_from_hidden(
        self,
        hidden: Mapping[int, Float[Tensor, "n l d"]],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> dict[int, ExitOutput]:
        """What the exits say of hidden states that are there already, by layer."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for layer in hidden:
            exit = self.exit(layer)
            alike.setdefault((type(exit), exit.config, exit.training), []).append(layer)
        outputs: dict[int, ExitOutput] = {}
        for layers in alike.values():
            states = [hidden[layer] for layer in layers]
            exits = [self.exit(layer) for layer in layers]
            outputs |= zip(layers, outputs_together(exits, states, attention_mask), strict=True)
        return {layer: outputs[layer] for layer in hidden}

    def forward(
        self,
        input_ids: Int[Tensor, "n l"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"] | None = None,
        token_type_ids: Int[Tensor, "n l"] | None = None,
        labels: Int[Tensor, " n"] | None = None,
    ) -> SequenceClassifierOutput:
        """The last exit's logits, and its cross-entropy if there are labels."""
        last = self.num_layers
        outputs = self.exit_outputs(input_ids, attention_mask, token_type_ids, layers=[last])
        logits = outputs[last].logits
        loss = None if labels is None else cross_entropy(logits.float(), labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    @classmethod
    def from_encoder(
        cls,
        name_or_path: str | Path,
        *,
        labels: Sequence[str],
        exit: ExitConfig = MHAExitConfig(),  # noqa: B008 - frozen; the field's own word
        last_exit: ExitConfig | None = None,
        exit_layers: Sequence[int] | None = None,
        num_layers: int | None = None,
    ) -> "MultiExitForSequenceClassification":
        """A pre-trained encoder with fresh exits, drawn from torch's global generator.

        Args:
            name_or_path: a folder or hub id of an encoder.
            labels: the names of the classes, in their order.
            exit: kind and settings of the exits.
            last_exit: those of the last exit, the same if `None`.
            exit_layers: which layers get an exit, all by default, the last always.
            num_layers: keep only the first so many layers.
        """
        encoder = load_encoder(name_or_path)
        if num_layers is not None:
            truncate(encoder, num_layers)
        return cls.around(
            encoder, labels=labels, exit=exit, last_exit=last_exit, exit_layers=exit_layers
        )

    @classmethod
    def around(
        cls,
        encoder: PreTrainedModel,
        *,
        labels: Sequence[str],
        exit: ExitConfig = MHAExitConfig(),  # noqa: B008
        last_exit: ExitConfig | None = None,
        exit_layers: Sequence[int] | None = None,
    ) -> "MultiExitForSequenceClassification":
        """An encoder that is in memory already, with fresh exits.

        It is not copied; its pooler, if it has one, is let go. The exits have its device and
        dtype, and are in training or evaluation mode as it is.
        """
        if len(labels) < 2:
            raise ValueError(f"a classifier needs at least 2 labels, found {list(labels)}")
        if len(set(labels)) < len(labels):
            raise ValueError(f"labels must differ, found {list(labels)}")
        config = MultiExitConfig(
            encoder=encoder.config,
            exit=exit_settings(exit),
            last_exit=None if last_exit is None else exit_settings(last_exit),
            exit_layers=list(exit_layers or ()),
            problem_type="single_label_classification",
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
        )
        with torch.device("meta"):  # an encoder of random weights would be for nothing
            model = cls(config)
        let_go_of_pooler(encoder)
        model.encoder = encoder
        model.exits = model._fresh_exits().to(encoder.device, encoder.dtype)
        model.train(encoder.training)
        return model

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | PathLike[Any] | None,
        *model_args: Any,  # noqa: ANN401 - the base class's own
        **kwargs: Any,  # noqa: ANN401
    ) -> "MultiExitForSequenceClassification":
        """Loads what `save_pretrained` wrote, as in transformers.

        Raises:
            UnsupportedError: it is a model of another type, which has no exits.
            ValueError: another number of labels is asked for than the model has. With
                `ignore_mismatched_sizes=True` its classifiers are started anew instead.
        """
        check_label_count(pretrained_model_name_or_path, kwargs)
        return super().from_pretrained(pretrained_model_name_or_path, *model_args, **kwargs)

    def save_pretrained(
        self,
        save_directory: str | PathLike[Any],
        *args: Any,  # noqa: ANN401 - the base class's own
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Writes what `from_pretrained` reads, and a model card where there is none."""
        super().save_pretrained(save_directory, *args, **kwargs)
        write_model_card(save_directory, self.config)

    def _fresh_exits(self) -> nn.ModuleDict:
        """The exits of the configuration, drawn from torch's global generator."""
        width = layerwise(self.encoder).width
        return nn.ModuleDict(
            {
                str(layer): build_exit(
                    self.config.exit_at(layer), encoder_width=width, num_labels=self.num_labels
                )
                for layer in self.config.exit_layers
            }
        )


def _in_words(layers: Sequence[int]) -> str:
    """Layers as a range where they are one.

    >>> _in_words([1, 2, 3]), _in_words([2, 5]), _in_words([6])
    ('1 … 3', '2, 5', '6')
    """
    first, last = layers[0], layers[-1]
    if len(layers) > 2 and list(layers) == list(range(first, last + 1)):
        return f"{first} … {last}"
    return ", ".join(map(str, layers))


AutoModelForSequenceClassification.register(MultiExitConfig, MultiExitForSequenceClassification)
