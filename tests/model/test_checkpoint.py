"""Checkpoint folders: loaded as stored, identified by content, and refused for everything that can be wrong."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import textwrap
import zipfile

import pytest

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")

from alodlm.errors import InputError, MissingError, StageError  # noqa: E402
from alodlm.model import checkpoint as checkpoint_module  # noqa: E402
from alodlm.model.checkpoint import open_checkpoint  # noqa: E402

load_file, save_file = safetensors_torch.load_file, safetensors_torch.save_file
CPU = torch.device("cpu")
WEIGHTS, INDEX, GATE = "model.safetensors", "model.safetensors.index.json", "exit_gate.pt"
Q = "model.layers.1.self_attn.q_proj"


def rewrite(folder, **changes):
    """Store the weights again with tensors replaced, added or (None) removed; `__` in a name stands for a dot."""
    tensors = load_file(folder / WEIGHTS)
    for name, tensor in changes.items():
        tensors.pop(name.replace("__", "."), None)
        if tensor is not None:
            tensors[name.replace("__", ".")] = tensor
    save_file(tensors, folder / WEIGHTS)


def shard(folder, names=("a.safetensors", "b.safetensors")):
    """Split the weights into two shards with an index; return the index."""
    tensors = load_file(folder / WEIGHTS)
    weight_map = {name: names[index % 2] for index, name in enumerate(sorted(tensors))}
    for name in names:
        save_file({key: tensors[key] for key in tensors if weight_map[key] == name}, folder / name)
    (folder / WEIGHTS).unlink()
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return weight_map


def reindex(folder, weight_map):
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))


def stored(folder):
    gate = torch.load(folder / GATE, weights_only=True)
    return load_file(folder / WEIGHTS) | {f"exit_gate.{name}": tensor for name, tensor in gate.items()}


def test_every_tensor_arrives_as_stored(folder):
    model = open_checkpoint(folder).load(CPU, torch.float32)
    loaded = model.state_dict()
    expected = stored(folder)
    assert loaded.keys() == expected.keys()
    assert all(torch.equal(loaded[name], expected[name]) for name in expected)
    assert not model.training and not any(parameter.requires_grad for parameter in model.parameters())


def test_bf16_casts_everything_but_the_gates_two_biases(folder):
    model = open_checkpoint(folder).load(CPU, torch.bfloat16)
    kept = {name for name, tensor in model.state_dict().items() if tensor.dtype == torch.float32}
    assert kept == {"exit_gate.net.bias", "exit_gate.depth_bias"}
    expected = stored(folder)
    assert all(torch.equal(t.float(), expected[n].to(t.dtype).float()) for n, t in model.state_dict().items())


def test_shards_and_a_safetensors_gate_load_the_same_weights(folder):
    expected = stored(folder)
    shard(folder)
    save_file(torch.load(folder / GATE, weights_only=True), folder / "exit_gate.safetensors")
    (folder / GATE).unlink()
    loaded = open_checkpoint(folder).load(CPU, torch.float32).state_dict()
    assert all(torch.equal(loaded[name], expected[name]) for name in expected)


def test_a_tied_head_is_the_embedding(folder, edit):
    edit("config.json", tie_word_embeddings=True)
    rewrite(folder, lm_head__weight=None)
    model = open_checkpoint(folder).load(CPU, torch.float32)
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert torch.equal(model.lm_head.weight, load_file(folder / WEIGHTS)["model.embed_tokens.weight"])


def test_the_identity_is_of_the_content_not_of_the_path(folder, tmp_path):
    before = open_checkpoint(folder).identity()
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    assert open_checkpoint(moved).identity() == before and len(before) == 64


@pytest.mark.parametrize(
    "change",
    [
        lambda folder, edit: edit("config.json", rms_norm_eps=1e-5),
        lambda folder, edit: edit("alodlm_config.json", mask_token_id=4),
        lambda folder, edit: edit("generation_config.json", eos_token_id=5),
        lambda folder, edit: torch.save(
            torch.load(folder / GATE, weights_only=True) | {"net.bias": torch.ones(1)}, folder / GATE
        ),
        lambda folder, edit: save_file(load_file(folder / WEIGHTS), folder / WEIGHTS, {"step": "2"}),
        lambda folder, edit: shard(folder),
    ],
    ids=["config", "loop", "generation", "gate", "header", "shards"],
)
def test_the_identity_changes_with_the_content(folder, edit, change):
    before = open_checkpoint(folder).identity()
    change(folder, edit)
    assert open_checkpoint(folder).identity() != before


def test_the_identity_does_not_depend_on_where_the_loop_keys_come_from_only_on_them(folder, tmp_path):
    loop = json.loads((folder / "alodlm_config.json").read_text())
    (folder / "alodlm_config.json").unlink()
    identities = set()
    for depth_file in ("a.yaml", "b.yaml"):
        (tmp_path / depth_file).write_text(json.dumps({"model": loop, "note": depth_file}))
        identities.add(open_checkpoint(folder, tmp_path / depth_file).identity())
    assert len(identities) == 1


def truncate(path, keep):
    path.write_bytes(path.read_bytes()[:keep])


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


WRONG_WEIGHTS = {
    "no weights": (lambda f: (f / WEIGHTS).unlink(), MissingError, "has no model.safetensors"),
    "empty file": (lambda f: (f / WEIGHTS).write_bytes(b""), InputError, "not a readable safetensors"),
    "cut header": (lambda f: truncate(f / WEIGHTS, 100), InputError, "not a readable safetensors"),
    "cut data": (lambda f: truncate(f / WEIGHTS, 90_000), InputError, "not a readable safetensors"),
    "a web page": (lambda f: (f / WEIGHTS).write_text("<html>" * 99), InputError, "not a readable safetensors"),
    "an LFS pointer": (lambda f: (f / WEIGHTS).write_text("version https://git-lfs"), InputError, "not a readable"),
    "a folder": (lambda f: replace_by_folder(f / WEIGHTS), InputError, "is a folder"),
    "a missing tensor": (lambda f: rewrite(f, model__norm__weight=None), InputError, "missing: model.norm.weight [32]"),
    "no head": (lambda f: rewrite(f, lm_head__weight=None), InputError, "missing: lm_head.weight [96, 32]"),
    "an extra tensor": (lambda f: rewrite(f, extra=torch.ones(1)), InputError, "unexpected: extra in model.safe"),
    "one layer more": (
        lambda f: rewrite(f, model__layers__3__mlp__up_proj__weight=torch.ones(64, 32)), InputError, "unexpected:",
    ),
    "a bias": (lambda f: rewrite(f, **{f"{Q}.bias": torch.ones(32)}), InputError, "bias is not supported"),
    "misshapen": (
        lambda f: rewrite(f, **{f"{Q}.weight": torch.ones(16, 32)}), InputError,
        f"misshapen: {Q}.weight in model.safetensors is [16, 32], config.json asks for [32, 32]",
    ),
    "int8": (
        lambda f: rewrite(f, **{f"{Q}.weight": torch.ones(32, 32, dtype=torch.int8)}), InputError, "quantised",
    ),
    "fp8": (
        lambda f: rewrite(f, **{f"{Q}.weight": torch.ones(32, 32).to(torch.float8_e4m3fn)}), InputError, "(F8_E4M3)",
    ),
    "scales": (lambda f: rewrite(f, **{f"{Q}.weight_scale": torch.ones(1)}), InputError, "unexpected:"),
    "both forms": (lambda f: (f / INDEX).write_text("{}"), InputError, "holds both"),
    "index a list": (lambda f: (shard(f), (f / INDEX).write_text("[]")), InputError, "one JSON object"),
    "index without map": (lambda f: (shard(f), (f / INDEX).write_text("{}")), InputError, "weight_map: must be"),
    "map to numbers": (lambda f: reindex(f, shard(f) | {"model.norm.weight": 3}), InputError, "plain .safetensors"),
    "a missing shard": (lambda f: (shard(f), (f / "b.safetensors").unlink()), MissingError, "b.safetensors: no such"),
    "a cut shard": (lambda f: (shard(f), truncate(f / "b.safetensors", 99)), InputError, "b.safetensors: is not"),
    "a shard above": (
        lambda f: reindex(f, shard(f) | {"model.norm.weight": "../x.safetensors"}), InputError, "plain .safetensors",
    ),
    "an absolute shard": (
        lambda f: reindex(f, shard(f) | {"model.norm.weight": "/x.safetensors"}), InputError, "plain .safetensors",
    ),
    "a shard below": (
        lambda f: reindex(f, shard(f) | {"model.norm.weight": "d/x.safetensors"}), InputError, "plain .safetensors",
    ),
    "a pickle shard": (
        lambda f: reindex(f, shard(f) | {"model.norm.weight": "model.bin"}), InputError, "plain .safetensors",
    ),
    "an empty name": (lambda f: reindex(f, shard(f) | {"model.norm.weight": ""}), InputError, "plain .safetensors"),
    "wrong shard": (
        lambda f: reindex(f, shard(f) | {"model.norm.weight": "a.safetensors", "lm_head.weight": "b.safetensors"}),
        InputError, "which model.safetensors.index.json puts in",
    ),
    "a tensor not indexed": (
        lambda f: reindex(f, {k: v for k, v in shard(f).items() if k != "model.norm.weight"}), InputError,
        "holds model.norm.weight, which model.safetensors.index.json puts in None",
    ),
    "an indexed tensor not there": (
        lambda f: reindex(f, shard(f) | {"model.other": "a.safetensors"}), InputError, "model.other: not in a.safe",
    ),
}  # fmt: skip


@pytest.mark.parametrize("spoil", WRONG_WEIGHTS)
def test_wrong_weights_are_refused_before_any_is_loaded(folder, spoil):
    change, error, reason = WRONG_WEIGHTS[spoil]
    change(folder)
    with pytest.raises(error) as caught:
        open_checkpoint(folder)
    assert reason in str(caught.value) and str(folder) in str(caught.value) and "\nnext: " in str(caught.value)


def test_a_tied_configuration_refuses_a_stored_head(folder, edit):
    edit("config.json", tie_word_embeddings=True)
    with pytest.raises(InputError, match=r"unexpected: lm_head.weight"):
        open_checkpoint(folder)


def test_a_layer_count_beyond_reason_is_refused_at_once(folder, edit):
    edit("config.json", num_hidden_layers=10**6, layer_types=...)
    with pytest.raises(InputError, match="num_hidden_layers: must fit the 36 tensors"):
        open_checkpoint(folder)


def test_all_wrong_tensors_are_listed_at_once(folder, edit):
    edit("config.json", hidden_size=64)
    with pytest.raises(InputError) as caught:
        open_checkpoint(folder)
    assert "30 problems" in str(caught.value) and "… and 10 more" in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_not_finite_are_refused_by_name(folder, value):
    weight = load_file(folder / WEIGHTS)[f"{Q}.weight"]
    weight[3, 5] = value
    rewrite(folder, **{f"{Q}.weight": weight})
    with pytest.raises(InputError, match=rf"{Q}.weight: must be finite"):
        open_checkpoint(folder).load(CPU, torch.float32)


def test_weights_beyond_the_memory_are_a_message(folder, monkeypatch):
    def refuse(*arguments, **keywords):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    checkpoint = open_checkpoint(folder)
    model = checkpoint_module.build_empty(checkpoint.config, torch.float32)
    monkeypatch.setattr(checkpoint_module, "build_empty", lambda *_: model)
    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.raises(StageError, match=r"does not fit the memory of cpu\nnext: use --precision bf16"):
        checkpoint.load(CPU, torch.float32)


class Hostile:
    def __reduce__(self):
        return print, ("this ran",)


def save_gate(folder, **changes):
    gate = torch.load(folder / GATE, weights_only=True)
    gate = {name: tensor for name, tensor in (gate | changes).items() if tensor is not None}
    torch.save(gate, folder / GATE)


def empty_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nothing", b"")


WRONG_GATES = {
    "no gate": (lambda f: (f / GATE).unlink(), MissingError, "has no exit_gate.pt and no exit_gate.safetensors"),
    "two gates": (lambda f: (f / "exit_gate.safetensors").write_bytes(b""), InputError, "holds both"),
    "a folder": (lambda f: replace_by_folder(f / GATE), InputError, "cannot be read"),
    "empty": (lambda f: (f / GATE).write_bytes(b""), InputError, "cannot be read"),
    "cut": (lambda f: truncate(f / GATE, 1000), InputError, "cannot be read"),
    "text": (lambda f: (f / GATE).write_text("gate"), InputError, "cannot be read"),
    "an empty archive": (lambda f: empty_zip(f / GATE), InputError, "cannot be read"),
    "hostile": (lambda f: torch.save({"net.bias": Hostile()}, f / GATE), InputError, "cannot be read"),
    "a hostile plain pickle": (lambda f: (f / GATE).write_bytes(pickle.dumps(Hostile())), InputError, "cannot be read"),
    "a list": (lambda f: torch.save([1], f / GATE), InputError, "must be a state dict"),
    "not tensors": (lambda f: torch.save({"net.bias": 1}, f / GATE), InputError, "must be a state dict"),
    "too few": (lambda f: save_gate(f, depth_bias=None), InputError, "missing: depth_bias"),
    "too many": (lambda f: save_gate(f, **{"net.scale": torch.ones(1)}), InputError, "unexpected: net.scale"),
    "another depth": (
        lambda f: save_gate(f, depth_bias=torch.zeros(3)), InputError,
        "misshapen: depth_bias is [3], the configuration asks for [4]",
    ),
    "another width": (lambda f: save_gate(f, **{"net.weight": torch.zeros(1, 8)}), InputError, "misshapen: net.weight"),
    "NaN": (lambda f: save_gate(f, depth_bias=torch.full((4,), torch.nan)), InputError, "not finite: depth_bias"),
    "integers": (lambda f: save_gate(f, depth_bias=torch.zeros(4, dtype=torch.int64)), InputError, "not floating"),
}  # fmt: skip


@pytest.mark.parametrize("spoil", WRONG_GATES)
def test_wrong_gates_are_refused_and_never_run(folder, spoil, capsys):
    change, error, reason = WRONG_GATES[spoil]
    change(folder)
    with pytest.raises(error) as caught:
        open_checkpoint(folder)
    assert reason in str(caught.value) and str(folder) in str(caught.value) and "\nnext: " in str(caught.value)
    assert "this ran" not in capsys.readouterr().out


def test_a_cut_safetensors_gate_is_refused(folder):
    (folder / GATE).unlink()
    (folder / "exit_gate.safetensors").write_bytes(b"\x08")
    with pytest.raises(InputError, match=r"exit_gate.safetensors: cannot be read"):
        open_checkpoint(folder)


def test_a_file_is_no_folder(folder):
    with pytest.raises(InputError, match="must be a checkpoint folder"):
        open_checkpoint(folder / "config.json")


LOAD_AND_MEASURE = """
    import sys
    from pathlib import Path
    import torch
    from alodlm.model.checkpoint import open_checkpoint

    def peak():  # of this program alone; getrusage would count the parent's size at the fork
        line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    checkpoint = open_checkpoint(Path(sys.argv[1]))
    dtype = getattr(torch, sys.argv[2])
    before = peak()
    model = checkpoint.load(torch.device("cpu"), dtype)
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    largest = max(p.numel() for p in model.parameters()) * 4
    print(peak() - before, weights, largest)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_loading_holds_no_second_copy_of_the_weights(folder, edit, dtype):
    """A checkpoint of 256 MB in float32: the peak may exceed the weights by about the tensor being copied."""
    edit("config.json", vocab_size=20_000, hidden_size=512, intermediate_size=8192)
    hidden, heads = 512, {"q_proj": 32, "k_proj": 16, "v_proj": 16}
    tensors = {"model.embed_tokens.weight": torch.ones(20_000, hidden), "model.norm.weight": torch.ones(hidden)}
    tensors["lm_head.weight"] = torch.ones(20_000, hidden)
    for layer in range(3):
        prefix = f"model.layers.{layer}"
        for name, rows in heads.items():
            tensors[f"{prefix}.self_attn.{name}.weight"] = torch.ones(rows, hidden)
        tensors[f"{prefix}.self_attn.o_proj.weight"] = torch.ones(hidden, 32)
        for name in ("q_norm", "k_norm"):
            tensors[f"{prefix}.self_attn.{name}.weight"] = torch.ones(8)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{prefix}.{name}.weight"] = torch.ones(hidden)
        tensors[f"{prefix}.mlp.gate_proj.weight"] = torch.ones(8192, hidden)
        tensors[f"{prefix}.mlp.up_proj.weight"] = torch.ones(8192, hidden)
        tensors[f"{prefix}.mlp.down_proj.weight"] = torch.ones(hidden, 8192)
    save_file(tensors, folder / WEIGHTS)
    assert (folder / WEIGHTS).stat().st_size > 200e6
    save_gate(folder, **{"net.weight": torch.ones(1, hidden)})
    command = [sys.executable, "-c", textwrap.dedent(LOAD_AND_MEASURE), str(folder), dtype]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, weights, largest = map(int, result.stdout.split())
    assert grown < weights + largest + 24e6, "the weights and one tensor's pages, with a little room"
