"""Products in 8 bits: the formula, computed by hand."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from exitwise.export.int8 import quantize, quantized_columns

GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=(32, 24)).astype(np.float32)
ROWS = (GENERATOR.normal(size=(2, 5, 32)) * [[[1]], [[100]]]).astype(np.float32)


def model_of(*weights: np.ndarray) -> onnx.ModelProto:
    """Products of one input with several constants."""
    names = [str(number) for number in range(len(weights))]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", f"w{name}"], [f"y{name}"]) for name in names],
        "products",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, None, 32])],
        [helper.make_tensor_value_info(f"y{name}", TensorProto.FLOAT, None) for name in names],
        [numpy_helper.from_array(w, f"w{name}") for name, w in zip(names, weights, strict=True)],
    )
    opset = helper.make_opsetid("", 20)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10)


def run(model: onnx.ModelProto, rows: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": rows})


def by_hand(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    s = np.abs(rows).max(axis=-1, keepdims=True) / 127
    sizes = np.abs(weights)
    t = (sizes[0::2] + sizes[1::2]).max(axis=0) / 127
    return s * t * (np.rint(rows / s) @ np.rint(weights / t))


def test_it_is_the_formula_with_a_scale_a_row_and_a_column() -> None:
    (found,) = run(quantize(model_of(WEIGHTS), least_width=24), ROWS)
    expected = by_hand(ROWS, WEIGHTS)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert np.abs(found - ROWS @ WEIGHTS).max() > 1e-3  # it is 8 bits


def test_a_row_of_zeros_stays_zero_and_others_do_not_see_it() -> None:
    rows = ROWS.copy()
    rows[0, 2] = 0
    model = quantize(model_of(WEIGHTS), least_width=24)
    (found,), (before,) = run(model, rows), run(model, ROWS)
    assert not found[0, 2].any()
    kept = np.arange(5) != 2
    assert np.array_equal(found[0, kept], before[0, kept])


def test_products_of_one_input_are_one_and_narrow_matrices_stay_in_float() -> None:
    narrow, other = WEIGHTS[:, :8], np.hstack([WEIGHTS, WEIGHTS])
    model = quantize(model_of(WEIGHTS, narrow, other), least_width=24)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("QuantizeLinear") == kinds.count("MatMulIntegerToFloat") == 1
    first, in_float, last = run(model, ROWS)
    assert np.array_equal(in_float, run(model_of(narrow), ROWS)[0])
    for weights, found in ((WEIGHTS, first), (other, last)):
        (alone,) = run(quantize(model_of(weights), least_width=24), ROWS)
        assert np.array_equal(found, alone)
    sizes = {each.name: each.dims for each in model.graph.initializer}
    assert not {"w0", "w2"} & sizes.keys()  # no weight twice
    assert [32, 24 + 48] in [list(each) for each in sizes.values()]


def test_the_largest_products_do_not_saturate() -> None:
    rows = np.ones((1, 64, 32), np.float32) * np.where(np.arange(64) % 2, 1, -1)[:, None]
    weights = np.ones((32, 64), np.float32) * np.where(np.arange(64) % 3, 1, -1)
    rows, weights = rows.astype(np.float32), weights.astype(np.float32)
    (found,) = run(quantize(model_of(weights), least_width=24), rows)
    np.testing.assert_allclose(found, by_hand(rows, weights), rtol=1e-6)
    np.testing.assert_allclose(found, rows @ weights, rtol=0.01)  # 63.5 is rounded to 64


@pytest.mark.parametrize("height", [31, 32])
def test_what_a_processor_adds_in_16_bits_fits_into_them(height: int) -> None:
    """Processors without VNNI add the products of two neighbours, activations up to 255."""
    weights = GENERATOR.standard_t(2, size=(height, 500)).astype(np.float32)
    values, steps = quantized_columns(weights)
    sizes = np.abs(values.astype(int))
    assert 126 <= sizes.max() <= 127
    pairs = [sizes[first : first + 2].sum(axis=0) for first in range(0, height, 2)]
    assert np.max(pairs) * 255 < 2**15
    assert np.abs(values * steps - weights).max() <= steps.max() / 2 * 1.001
