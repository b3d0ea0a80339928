"""The pooler exit: the classification head that BERT and its relatives come with."""

from dataclasses import dataclass
from typing import Literal, get_args

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from exitwise.exits.base import EXITS, Exit, ExitConfig, first_token, linear

Activation = Literal["tanh", "relu", "gelu"]

_MODULES: dict[Activation, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU, "gelu": nn.GELU}


@dataclass(frozen=True, kw_only=True)
class PoolerExitConfig(ExitConfig):
    """Settings of `PoolerExit`; its classifier has a bias, as the heads it copies have.

    Attributes:
        activation: tanh in BERT, RoBERTa, MPNet and ALBERT, relu in DistilBERT, gelu in ELECTRA
            and DeBERTa.
    """

    bias: bool = True
    activation: Activation = "tanh"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation not in get_args(Activation):
            known = ", ".join(get_args(Activation))
            raise ValueError(f"activation must be one of {known}, found {self.activation!r}")


@EXITS.register
class PoolerExit(Exit):
    r"""A dense layer on the first token: $h^e = \mathrm{act}(H^{(m)}_0 W_p + b_p) \in R^d$.

    The usual head of a fine-tuned encoder (Devlin et al. 2019, https://arxiv.org/abs/1810.04805):
    a baseline for the last layer, and what a stock classifier's head becomes when exits are
    added to it. Its width is the encoder's, so the cross-layer loss cannot pair it with an MHA
    exit.
    """

    config_class = PoolerExitConfig

    def __init__(self, config: PoolerExitConfig, *, encoder_width: int, num_labels: int) -> None:
        super().__init__(config, encoder_width=encoder_width, num_labels=num_labels)
        self.dense = linear(encoder_width, encoder_width)
        self.activation = _MODULES[config.activation]()

    def embed(
        self,
        hidden: Float[Tensor, "n l d"],
        attention_mask: Int[Tensor, "n l"] | Bool[Tensor, "n l"],
    ) -> Float[Tensor, "n d"]:
        """The pooled first token."""
        pooled: Tensor = self.activation(self.dense(first_token(hidden, attention_mask)))
        return pooled

    def macs(self, length: int) -> int:
        """$d^2 + d K$, whatever the length."""
        return self.dense.weight.numel() + self.classifier.weight.numel()
