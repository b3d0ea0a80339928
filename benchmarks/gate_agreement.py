"""How often cheaper gates decide as the exact gate does, on a real run.

ACL trains encoder and last exit on MRPC with the exact gate. Before each step the shortcuts
decide on the same losses, and nothing is done with their answers. A gate that decides at every
k-th batch is judged from the exact decisions: how often the one that stands is that of the batch.
"""

from collections.abc import Sequence

import torch
from harness import Claim, arguments, write_claims
from steps import Steps, mrpc, prepared
from torch import Tensor

from exitwise.encoders import layerwise
from exitwise.gradients import GradientGate
from exitwise.gradients.shortcut import decide_beforehand
from exitwise.objectives import Objective
from exitwise.regimes import SingleExitRegime

INTERVALS = (2, 4, 8)


def ordinal(number: int) -> str:
    """2nd, 4th, 8th."""
    return f"{number}{'nd' if number == 2 else 'th'}"


def main() -> None:
    """Measures and writes `results/gate_agreement.json`; a round is an epoch on 720 pairs."""
    options = arguments(__doc__, rounds=4)
    recipe = mrpc(options.encoder, options.data_dir, rows=720)
    material, depth = prepared(recipe)
    regime = SingleExitRegime(
        objective=Objective.acl(),
        epochs=options.rounds,
        learning_rate=3e-5,
        exit_learning_rate=1e-3,
    )
    (stage,) = regime.stages(depth)
    steps = Steps(stage, recipe, material)
    trainer, model = steps.trainer, steps.model
    trainer.args.eval_strategy = trainer.args.save_strategy = "no"
    layers = layerwise(model.encoder).layers
    exit_parameters = list(model.exit(depth).parameters())
    gates = {
        "the exit alone": exit_parameters,
        "the last layer and the exit": [*exit_parameters, *layers[-1].parameters()],
        "the last two layers and the exit": [
            *exit_parameters,
            *(each for layer in layers[-2:] for each in layer.parameters()),
        ],
    }
    exact: list[bool] = []
    cheap: dict[str, list[bool]] = {
        "the exit's embedding alone": [],
        **{name: [] for name in gates},
    }
    backward = trainer._backward

    def watched(primary: Tensor, auxiliary: Tensor, *rest: object, **settings: object) -> object:
        embeddings = settings["representations"]
        assert isinstance(embeddings, Sequence)
        for name, where in {"the exit's embedding alone": embeddings, **gates}.items():
            reports = decide_beforehand("all", GradientGate(), primary, auxiliary, where)
            cheap[name].append(reports["all"].is_open)
        reports = backward(primary, auxiliary, *rest, **settings)  # type: ignore[arg-type]
        exact.append(reports["all"].is_open)
        return reports

    trainer._backward = watched  # type: ignore[assignment]
    trainer.train()
    claims = [
        Claim(
            claim="share of batches on which the exact gate is open (MRPC, "
            f"{options.rounds} epochs of 720 pairs, {len(exact)} batches)",
            value=sum(exact) / len(exact),
        )
    ]
    for name, decisions in cheap.items():
        claims.append(agreement(f"a gate on {name}", decisions, exact))
    for k in INTERVALS:
        standing = [exact[index - index % k] for index in range(len(exact))]
        claims.append(
            agreement(f"a gate that decides at every {ordinal(k)} batch", standing, exact)
        )
    write_claims("gate_agreement", claims)


def agreement(name: str, decisions: Sequence[bool], exact: Sequence[bool]) -> Claim:
    """How often two rows of decisions are equal, with its standard error as spread."""
    share = sum(one == two for one, two in zip(decisions, exact, strict=True)) / len(exact)
    error = (share * (1 - share) / len(exact)) ** 0.5
    return Claim(
        claim=f"agreement with the exact gate: {name}",
        value=share,
        spread=(share - error, share + error),
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
