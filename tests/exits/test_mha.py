from typing import Any

import pytest
import torch
from torch import Tensor, nn

from exitwise.exits import MHAExit, MHAExitConfig


def exit_of(encoder_width: int, num_labels: int, **settings: Any) -> MHAExit:
    return MHAExit(
        MHAExitConfig(**settings), encoder_width=encoder_width, num_labels=num_labels
    ).eval()


def test_it_gives_the_reference_values(reference_values: dict[str, Any]) -> None:
    case = reference_values["mha_exit_forward"]
    weights = {k: torch.tensor(v, dtype=torch.float64) for k, v in case["parameters"].items()}
    head = exit_of(case["d"], case["n_classes"], width=case["d_e"], num_heads=case["n_heads"])
    head.double()
    names = {"down": "down", "query": "q", "key": "k", "value": "v", "output": "o"}
    state = {f"{mine}.weight": weights[f"W_{theirs}"].T for mine, theirs in names.items()}
    state |= {f"{mine}.bias": weights[f"b_{theirs}"] for mine, theirs in names.items()}
    head.load_state_dict({**state, "classifier.weight": weights["W_c"].T})

    output = head(
        torch.tensor(case["hidden_states"], dtype=torch.float64),
        torch.tensor(case["attention_mask"]),
    )

    expected = torch.tensor(case["h_e"], dtype=torch.float64)
    torch.testing.assert_close(output.embedding, expected, rtol=1e-7, atol=1e-9)
    expected = torch.tensor(case["logits"], dtype=torch.float64)
    torch.testing.assert_close(output.logits, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_one_query_gives_what_full_attention_gives(num_heads: int) -> None:
    head = exit_of(12, 2, width=8, num_heads=num_heads).double()
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    hidden = torch.randn(3, 6, 12, dtype=torch.float64)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]])
    context = full_attention(head, head.down(hidden).tanh(), mask)  # [n, l, e]
    expected = torch.stack([context[0, 0], context[1, 0], context[2, 2]]).tanh()
    torch.testing.assert_close(head(hidden, mask).embedding, expected, rtol=1e-9, atol=1e-12)


def full_attention(head: MHAExit, states: Tensor, mask: Tensor) -> Tensor:
    """torch's own multi-head attention, with the exit's weights and every query."""
    width = states.shape[-1]
    attention = nn.MultiheadAttention(width, head.config.num_heads, batch_first=True).double()
    parts = (head.query, head.key, head.value)
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        attention.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        attention.out_proj.load_state_dict(head.output.state_dict())
    context, _ = attention(states, states, states, key_padding_mask=mask == 0, need_weights=False)
    return context


def test_dropout_also_falls_on_the_attention_weights() -> None:
    head = exit_of(12, 2, dropout=0.5, embedding="before_dropout").train()
    nn.init.normal_(head.value.weight)
    hidden, mask = torch.randn(2, 9, 12), torch.ones(2, 9, dtype=torch.long)
    assert not torch.equal(head(hidden, mask).embedding, head(hidden, mask).embedding)


@pytest.mark.parametrize("num_labels", [2, 3])
def test_it_has_the_reference_number_of_parameters(
    reference_values: dict[str, Any], num_labels: int
) -> None:
    counts = reference_values["parameter_counts"]
    head = exit_of(768, num_labels)
    sizes = {name: sum(p.numel() for p in part.parameters()) for name, part in parts(head).items()}
    if num_labels == 2:
        assert sizes == {k: counts["mha_exit_d768_de64_k2"][k] for k in sizes}
    total = counts["mha_exit_d768_de64_k2"]["total"] if num_labels == 2 else None
    assert sum(sizes.values()) == (total or counts["mha_exit_d768_de64_k3_total"])


def parts(head: MHAExit) -> dict[str, nn.Module]:
    return {
        "down_projection": head.down,
        "attention_q_k_v_o": nn.ModuleList([head.query, head.key, head.value, head.output]),
        "classifier_no_bias": head.classifier,
    }


def test_one_exit_is_the_stated_share_of_bert(reference_values: dict[str, Any]) -> None:
    counts = reference_values["parameter_counts"]
    share = 100 * sum(p.numel() for p in exit_of(768, 2).parameters())
    bert = counts["backbones_with_pooler"]["bert-base-uncased"]
    expected = counts["share_of_bert_base_uncased_percent"]
    assert round(share / bert, 4) == expected["one_exit"]
    assert round(12 * share / bert, 4) == expected["twelve_exits"]


def test_macs_of_all_queries_are_the_reference_values(reference_values: dict[str, Any]) -> None:
    head = exit_of(768, 2)
    table = reference_values["flops"]["table"]
    found = {row["length"]: head.macs_of_all_queries(row["length"]) for row in table}
    assert found == {row["length"]: row["mha_exit_k2_MACs"] for row in table}
    assert all(head.macs(length) < found[length] for length in found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 64, "num_heads": 5}, "width must be a multiple of num_heads, found 64 and 5"),
        ({"width": 0}, "width and num_heads must be at least 1, found 0 and 2"),
        ({"num_heads": 0}, "width and num_heads must be at least 1, found 64 and 0"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MHAExitConfig(**settings)
