"""Device maps: the same numbers wherever the blocks live, and refusals that name the block."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")

from alodlm.decode.portable import PortableDecoder  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402
from alodlm.errors import InputError, MissingError  # noqa: E402
from alodlm.model.checkpoint import open_checkpoint  # noqa: E402

CPU = torch.device("cpu")
SETTINGS = DecodeSettings(max_new_tokens=24)


def tokens(folder, device_map, dtype=torch.float32):
    model = open_checkpoint(folder).load(CPU, dtype, device_map)
    away = {name for name, parameter in model.named_parameters() if parameter.device.type == "meta"}
    result = PortableDecoder(model, CPU, []).generate([5, 9, 60], SETTINGS)
    return away, result.token_ids, result.first_pass_halt_probabilities


@pytest.mark.parametrize(
    ("device_map", "away"),
    [
        ({"": "disk"}, {"model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight", "lm_head.weight"}),
        ({"": "cpu", "model.layers.1": "disk"}, {"model.layers.1.self_attn.q_norm.weight"}),
        ({"model": "disk", "lm_head": "cpu", "exit_gate": "disk"}, {"model.norm.weight"}),
        ({"": torch.device("cpu"), "lm_head": "disk"}, {"lm_head.weight"}),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_on_the_disk_give_the_same_tokens(folder, device_map, away, dtype):
    plain = tokens(folder, None, dtype)
    spread = tokens(folder, device_map, dtype)
    assert plain[0] == set()
    assert away <= spread[0] and not any(name.startswith("exit_gate.") for name in spread[0])
    assert spread[1:] == plain[1:] and len(plain[1]) == 24


def test_the_automatic_map_keeps_a_small_model_in_memory(folder):
    assert tokens(folder, "auto") == tokens(folder, None)


def test_a_tied_head_on_the_disk_reads_the_embedding(folder, edit):
    from safetensors.torch import load_file, save_file

    edit("config.json", tie_word_embeddings=True)
    weights = load_file(folder / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, folder / "model.safetensors")
    plain = tokens(folder, None)
    away, *spread = tokens(folder, {"": "cpu", "model.embed_tokens": "disk"})
    assert away == {"model.embed_tokens.weight"} or away == {"model.embed_tokens.weight", "lm_head.weight"}
    assert spread == list(plain[1:])


@pytest.mark.parametrize(
    ("device_map", "error", "reason"),
    [
        ("balanced", InputError, "must be None, auto or a mapping"),
        ({"model": "cpu"}, InputError, "lm_head has no device"),
        ({"": "cpu", "model.layers.7": "disk"}, InputError, "keys must be blocks"),
        ({"": "cpu", "model.layers.1.mlp": "disk"}, InputError, "a layer cannot be split"),
        ({"": "nowhere"}, InputError, "must be a device"),
        ({"": 1.5}, InputError, "must be a device"),
        ({"": "meta"}, InputError, "must be cpu, disk or cuda"),
        ({"": "cuda:99"}, MissingError, "no CUDA device cuda:99"),
        ({"": 99}, MissingError, "no CUDA device cuda:99"),
    ],
)
def test_a_map_that_cannot_be_followed_is_refused(folder, device_map, error, reason):
    with pytest.raises(error) as caught:
        open_checkpoint(folder).load(CPU, torch.float32, device_map)
    assert "device_map" in str(caught.value) and reason in str(caught.value) and "\nnext: " in str(caught.value)
