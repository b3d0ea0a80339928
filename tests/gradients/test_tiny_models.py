"""ACL-Grad on the linear models of the reference: gradients, angle, decision, update."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from exitwise.gradients import GradientGate, gated_backward
from exitwise.losses import (
    aligned_contrastive_loss,
    cross_layer_contrastive_loss,
    supervised_contrastive_loss,
)
from exitwise.outputs import ExitOutput

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_values.json").read_text())[
    "acl_grad_tiny_models"
]["cases"]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
each_dtype = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
TOLERANCE: dict[torch.dtype, dict[str, float]] = {
    torch.float64: {"rtol": 1e-7, "atol": 1e-9},
    torch.float32: {"rtol": 1e-4, "atol": 1e-5},
}


def setup(case: dict[str, Any], dtype: torch.dtype) -> tuple[list[nn.Parameter], Tensor, Tensor]:
    """The parameters A and W, cross-entropy and the contrastive loss."""

    def tensor(name: str) -> Tensor:
        return torch.tensor(case[name], dtype=dtype)

    layer, matrix = nn.Parameter(tensor("A")), nn.Parameter(tensor("W"))
    labels = torch.tensor(case["labels"])
    embeddings = tensor("x") @ layer
    settings = {"temperature": case["tau"], "denominator": case["denominator"]}
    if case["contrastive_loss"] == "scl":
        auxiliary = supervised_contrastive_loss(embeddings, labels, **settings)
    elif case["contrastive_loss"] == "acl_embed":
        auxiliary = aligned_contrastive_loss(embeddings, matrix.T, labels, **settings)
    else:
        student = ExitOutput(embeddings @ matrix, embeddings, matrix.T)
        samples, classes = tensor("h_teacher"), tensor("W_teacher")
        teacher = ExitOutput(samples @ classes, samples, classes.T)
        auxiliary = cross_layer_contrastive_loss(student, teacher, labels, **settings)
    return [layer, matrix], cross_entropy(embeddings @ matrix, labels), auxiliary


@each_dtype
@each_case
def test_losses_and_gradients_equal_the_reference(case: dict[str, Any], dtype: torch.dtype) -> None:
    parameters, *losses = setup(case, dtype)
    names = ("loss_ce_mean", "ce"), ("loss_contrastive_sum", "contrastive_sum")
    for loss, (value, gradient) in zip(losses, names, strict=True):
        expected = torch.tensor(case[value], dtype=dtype)
        torch.testing.assert_close(loss, expected, **TOLERANCE[dtype])
        found = torch.autograd.grad(loss, parameters, retain_graph=True, materialize_grads=True)
        for name, of_parameter in zip("AW", found, strict=True):
            target = torch.tensor(case[f"grad_{gradient}_{name}"], dtype=dtype)
            torch.testing.assert_close(of_parameter, target, **TOLERANCE[dtype])


@each_dtype
@pytest.mark.parametrize("reading", ["substitute", "fixed"])
@each_case
def test_decision_and_update_equal_the_reference(
    case: dict[str, Any], reading: Any, dtype: torch.dtype
) -> None:
    parameters, primary, auxiliary = setup(case, dtype)
    gate = GradientGate(ce_weight_when_closed=reading)
    report = gated_backward(primary, auxiliary, parameters, weight=case["lambda"], gate=gate)
    assert report is not None
    assert report.is_open == case["kept_at_threshold_90"]
    assert report.angle == expected_angle(case, "A_and_W", dtype)
    assert report.is_undefined == (case["angle_deg_theta_A_and_W"] is None)
    key = {"substitute": "substitute_lambda", "fixed": "fixed_ce_weight"}[reading]
    for name, parameter in zip("AW", parameters, strict=True):
        target = torch.tensor(case[f"update_gradient_{key}_{name}"], dtype=dtype)
        torch.testing.assert_close(parameter.grad, target, **TOLERANCE[dtype])


@each_case
def test_angle_on_the_encoder_alone_equals_the_reference(case: dict[str, Any]) -> None:
    parameters, primary, auxiliary = setup(case, torch.float64)
    report = gated_backward(
        primary,
        auxiliary,
        parameters,
        weight=case["lambda"],
        gate=GradientGate(parameters="encoder"),
        compared=parameters[:1],
    )
    assert report is not None
    assert report.angle == expected_angle(case, "A_only", torch.float64)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["contrastive_loss"] == "scl"],
    ids=lambda case: case["name"],
)
def test_shared_leaves_out_a_matrix_that_only_cross_entropy_reaches(case: dict[str, Any]) -> None:
    parameters, primary, auxiliary = setup(case, torch.float64)
    gate = GradientGate(parameters="shared")
    report = gated_backward(primary, auxiliary, parameters, weight=case["lambda"], gate=gate)
    assert report is not None
    assert report.angle == expected_angle(case, "A_only", torch.float64)


def expected_angle(case: dict[str, Any], theta: str, dtype: torch.dtype) -> Any:
    angle = case[f"angle_deg_theta_{theta}"]
    tolerance = TOLERANCE[dtype]
    value = math.nan if angle is None else angle
    return pytest.approx(value, rel=tolerance["rtol"], abs=tolerance["atol"], nan_ok=True)
