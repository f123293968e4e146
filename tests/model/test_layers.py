"""The layers against transformers' Qwen3, against themselves with a mask, and their heads' number types."""

from __future__ import annotations

import msgspec
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from alodlm.model.config import LoopedConfig  # noqa: E402
from alodlm.model.layers import RotaryTable, window_mask  # noqa: E402
from alodlm.model.looped import ExitGate, LoopedModel, OutputProjection  # noqa: E402

CPU = torch.device("cpu")
SHAPE = dict(
    vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=5, num_attention_heads=6,
    num_key_value_heads=2, head_dim=16, max_position_embeddings=256, rms_norm_eps=1e-6,
)  # fmt: skip
CONFIG = LoopedConfig(
    **SHAPE, rope_theta=50000.0, tie_word_embeddings=False, loop_start=1, loop_end=3, max_depth=1, mask_token_id=3
)


@pytest.fixture(scope="module")
def pair():
    """A transformers model with strong random weights, ours with the same ones, and token ids `[3, 40]`."""
    torch.manual_seed(0)
    config = transformers.Qwen3Config(
        **SHAPE, rope_parameters={"rope_type": "default", "rope_theta": 50000.0}, initializer_range=0.15
    )
    theirs = transformers.Qwen3ForCausalLM(config).eval()
    ours = LoopedModel(CONFIG)
    missing = ours.load_state_dict(theirs.state_dict(), strict=False)
    assert not missing.unexpected_keys
    assert all(name.startswith("exit_gate.") for name in missing.missing_keys)
    return theirs, ours, torch.randint(0, 97, (3, 40))


def rotary() -> RotaryTable:
    return RotaryTable.build(CONFIG, 256, device=CPU, dtype=torch.float32)


def test_one_pass_over_a_whole_sequence_gives_transformers_logits(pair):
    theirs, ours, ids = pair
    with torch.no_grad():
        expected = theirs(ids).logits
        got = ours(ids, rotary().rows(torch.arange(40)[None]))
    assert expected.abs().max() > 1
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=0)


def test_logical_positions_move_the_rotation_not_the_causal_order(pair):
    theirs, ours, ids = pair
    positions = torch.stack([torch.randperm(40) for _ in range(3)])
    four_dimensional = torch.full((40, 40), -torch.inf).triu(1).expand(3, 1, 40, 40)
    with torch.no_grad():
        expected = theirs(ids, position_ids=positions, attention_mask=four_dimensional).logits
        got = ours(ids, rotary().rows(positions))
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=0)


def test_gradients_are_those_of_transformers(pair):
    theirs, ours, ids = pair
    theirs(ids).logits.square().mean().backward()
    ours(ids, rotary().rows(torch.arange(40)[None])).square().mean().backward()
    wanted = {name: value.grad for name, value in theirs.named_parameters()}
    for name, value in ours.named_parameters():
        if not name.startswith("exit_gate."):
            torch.testing.assert_close(value.grad, wanted[name], atol=1e-5 * wanted[name].abs().max().item(), rtol=1e-3)


@pytest.mark.parametrize("prefix", [0, 1, 16, 33])
def test_the_folded_window_mask_equals_causal_attention(pair, prefix):
    _, ours, ids = pair
    rows = rotary().rows(torch.arange(prefix, 40)[None])
    layer = ours.model.layers[0]
    hidden = ours.embed(ids)

    class Prefix:
        def update(self, keys, values):
            return torch.cat((kept[0], keys), dim=2), torch.cat((kept[1], values), dim=2)

    class Keep:
        def update(self, keys, values):
            kept.extend((keys[:, :, :prefix], values[:, :, :prefix]))
            return keys, values

    kept = []
    with torch.no_grad():
        whole = layer(hidden, rotary().rows(torch.arange(40)[None]), Keep())
        mask = window_mask(40 - prefix, prefix, CONFIG, device=CPU, dtype=torch.float32)
        part = layer(hidden[:, prefix:], rows._replace(mask=mask), Prefix())
    assert mask.shape == (1, 1, (40 - prefix) * 3, 40)
    torch.testing.assert_close(part, whole[:, prefix:], atol=1e-5, rtol=0)


def test_bf16_logits_are_float32_sums_of_bf16_operands():
    torch.manual_seed(1)
    config = msgspec.structs.replace(CONFIG, vocab_size=9001)
    head = OutputProjection(config).to(torch.bfloat16)
    features = torch.randn(2, 3, 48).to(torch.bfloat16)
    got = head(features)
    exact = features.double() @ head.weight.double().t()
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), exact, atol=1e-5, rtol=1e-5)
    rounded = exact.to(torch.bfloat16).double()
    assert (rounded - exact).abs().max() > 1e-3, "the case would not tell rounded logits from exact ones"


def test_the_gate_adds_the_bias_of_its_depth_in_float32():
    gate = ExitGate(msgspec.structs.replace(CONFIG, max_depth=3))
    with torch.no_grad():
        gate.net.weight.fill_(0.5)
        gate.net.bias.fill_(0.001)
        gate.depth_bias.copy_(torch.tensor([0.0, 1.0, -2.0]))
    gate.net.weight.data = gate.net.weight.data.to(torch.bfloat16)
    features = torch.full((2, 48), 0.25, dtype=torch.bfloat16)
    for depth, bias in enumerate((0.0, 1.0, -2.0)):
        torch.testing.assert_close(gate(features, depth), torch.full((2,), 6.001 + bias))


def test_tied_embeddings_share_one_tensor():
    tied = LoopedModel(msgspec.structs.replace(CONFIG, tie_word_embeddings=True))
    assert tied.lm_head.weight is tied.model.embed_tokens.weight
