"""The classifier: an encoder of transformers with an exit after its layers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from exitwise.encoders import build_encoder, layerwise, load_encoder, truncate
from exitwise.exits import Exit, ExitConfig, MHAExitConfig, build_exit, exit_settings
from exitwise.modeling.config import MultiExitConfig
from exitwise.outputs import ExitOutput


class MultiExitForSequenceClassification(PreTrainedModel):
    """A text classifier whose encoder can answer after every layer.

    `from_encoder` puts fresh exits on a pre-trained encoder, `from_pretrained` loads what was
    saved. The last exit answers where one answer is asked for (`forward`, pipelines).

    Attributes:
        encoder: the module of transformers, without its pooler.
        exits: the exits by layer, as text: "1" … "M".
    """

    config_class = MultiExitConfig
    base_model_prefix = "encoder"
    accepts_loss_kwargs = False  # the loss of a micro-batch is its own mean
    _supports_sdpa = True
    _supports_attention_backend = True

    def __init__(self, config: MultiExitConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.encoder = build_encoder(config.encoder)
        width = layerwise(self.encoder).width
        self.exits = nn.ModuleDict(
            {
                str(layer): build_exit(
                    config.exit_at(layer), encoder_width=width, num_labels=config.num_labels
                )
                for layer in config.exit_layers
            }
        )
        self.post_init()

    @property
    def num_layers(self) -> int:
        """M, the layers of the encoder."""
        return int(self.config.num_hidden_layers)

    @property
    def exit_layers(self) -> tuple[int, ...]:
        """The layers that have an exit, in ascending order."""
        return tuple(int(layer) for layer in self.exits)

    def exit(self, layer: int) -> Exit:
        """The exit after a layer."""
        if str(layer) not in self.exits:
            layers = ", ".join(self.exits)
            raise ValueError(f"no exit at layer {layer}: this model has exits at {layers}")
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
        hidden, mask = self.hidden_states(
            input_ids, attention_mask, token_type_ids, layers=layers or self.exit_layers
        )
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
        for layer in range(1, max(layers) + 1):
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
        return {layer: self.exit(layer)(states, attention_mask) for layer, states in hidden.items()}

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
        exit: ExitConfig = MHAExitConfig(),  # noqa: A002, B008 - frozen; the field's own word
        last_exit: ExitConfig | None = None,
        exit_layers: Sequence[int] | None = None,
        num_layers: int | None = None,
    ) -> Self:
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
        exit: ExitConfig = MHAExitConfig(),  # noqa: A002, B008
        last_exit: ExitConfig | None = None,
        exit_layers: Sequence[int] | None = None,
    ) -> Self:
        """An encoder that is in memory already, with fresh exits."""
        if len(labels) < 2:
            raise ValueError(f"a classifier needs at least 2 labels, found {list(labels)}")
        config = MultiExitConfig(
            encoder=encoder.config,
            exit=exit_settings(exit),
            last_exit=None if last_exit is None else exit_settings(last_exit),
            exit_layers=None if exit_layers is None else list(exit_layers),
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
        )
        model = cls(config)
        model.encoder = encoder
        return model

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401
        """Loads what `save_pretrained` wrote, as in transformers.

        Raises:
            ValueError: another number of labels is asked for than the model has. With
                `ignore_mismatched_sizes=True` its classifiers are started anew instead.
        """
        asked = kwargs.get("num_labels") or getattr(kwargs.get("config"), "num_labels", None)
        if asked is not None and not kwargs.get("ignore_mismatched_sizes"):
            found = MultiExitConfig.from_pretrained(name_or_path).num_labels
            if asked != found:
                raise ValueError(
                    f"{name_or_path} has {found} labels, asked for {asked}: "
                    "ignore_mismatched_sizes=True starts its classifiers anew"
                )
        return super().from_pretrained(name_or_path, *args, **kwargs)
