"""The demo's training rows and passes: what the decoder computes, and an objective that adds up."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
import torch

from alodlm.candidates.local import load_decoder
from alodlm.decode.portable import PortableDecoder
from alodlm.decode.settings import DecodeSettings

PROMPT = [3, 44, 20, 7, 81, 9]
WINDOW = 5


@pytest.fixture
def training(root, monkeypatch):
    """The package of training modules, as the script sees it."""
    monkeypatch.syspath_prepend(str(root / "scripts"))
    import demo_training
    from demo_training import batches, kinds, model, muon, objective, passes, settings, tokenizer  # noqa: F401

    return demo_training


@pytest.fixture
def settings(training, root: Path):
    return training.settings.load(root / "configs" / "demo.yaml")


@pytest.fixture
def tokenizer(training):
    return training.tokenizer.build(256)


@pytest.fixture
def model(training, settings, tokenizer):
    torch.manual_seed(3)
    model = training.model.new_model(settings.model, tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0 if parameter.dim() == 2 else 1.0)
    return model.eval()


def window_batch(training, model, prefix: list[int], passes: list[int], lead: list[int]):
    """Return a batch of one window: `lead` observed tokens after `prefix`, then masks."""
    masks = [model.config.mask_token_id] * WINDOW
    rows = len(lead) + WINDOW
    return training.batches.Batch(
        prefix_tokens=torch.tensor([prefix]),
        prefix_depths=torch.tensor([passes]),
        tokens=torch.tensor([lead + masks]),
        positions=torch.arange(len(prefix), len(prefix) + rows)[None],
        begin=torch.full((1, rows), len(prefix)),
        window=torch.zeros(1, rows, dtype=torch.long),
        targets=torch.zeros(1, rows, dtype=torch.long),
        weights=torch.ones(1, rows),
    )


@torch.inference_mode()
def left1_window(training, model, batch, lead: int, passes: int) -> list[int]:
    """Run one window by the training passes, committing the leftmost mask at each pass."""
    table = training.passes.rotary_table(model)
    prefix = training.passes.Prefix(model, table, batch.prefix_tokens, batch.prefix_depths)
    run = training.passes.WindowRun(model, table, prefix, batch)
    found = []
    for depth in range(passes):
        row = lead + depth
        found.append(int(model.logits(run.features(depth))[0, row].argmax()))
        committed = torch.zeros_like(batch.tokens, dtype=torch.bool)
        committed[0, row] = True
        run.carry(committed, torch.full_like(batch.tokens, found[-1]))
    return found


@pytest.mark.parametrize(("q", "passes"), [(0.2, 1), (0.4, 2), (0.7, 3), (1.0, 4)])
def test_training_passes_predict_what_the_decoder_commits(training, model, q, passes):
    """A fresh gate halts every window after as many passes as q asks for; three windows, then the next one's lead."""
    settings = DecodeSettings(q=q, mode="left1", window_size=WINDOW, max_new_tokens=3 * passes + WINDOW)
    decoded = PortableDecoder(model, torch.device("cpu"), []).generate(PROMPT, settings)
    prefix, depths, lead, emitted = list(PROMPT), [4] * len(PROMPT), [], []
    for _ in range(3):
        batch = window_batch(training, model, prefix, depths, lead)
        prefix, depths = prefix + lead, depths + [passes] * len(lead)
        lead = left1_window(training, model, batch, len(lead), passes)
        emitted += lead
    assert decoded.exit_depths[: 3 * passes] == list(range(1, passes + 1)) * 3
    assert emitted == decoded.token_ids[: 3 * passes]


def test_several_windows_in_a_batch_do_not_see_each_other(training, settings, tokenizer, model):
    item = training.kinds.items("training", 1, 1)[0]
    sampler = training.batches.Sampler(settings, tokenizer, random.Random(1))
    batch = sampler.batch([training.batches.encode(item, tokenizer)])
    mask = batch.window_mask()[0]
    own = mask[:, batch.prefix_tokens.shape[1] :]
    for row, number in enumerate(batch.window[0].tolist()):
        seen = set(batch.window[0][own[row]].tolist())
        assert seen == {number}
        assert int(mask[row, : batch.prefix_tokens.shape[1]].sum()) == int(batch.begin[0, row])


def test_a_windows_rows_are_observed_tokens_then_masks_each_by_position(training, settings, tokenizer):
    sampler = training.batches.Sampler(settings, tokenizer, random.Random(2))
    examples = [training.batches.encode(item, tokenizer) for item in training.kinds.items("training", 2, 2)]
    batch = sampler.batch(examples)
    for tokens, positions, windows in zip(batch.tokens, batch.positions, batch.window, strict=True):
        for number in range(settings.windows.per_item):
            rows = [
                (token == tokenizer.mask_token_id, position)
                for token, position, window in zip(tokens.tolist(), positions.tolist(), windows.tolist(), strict=True)
                if window == number
            ]
            assert rows == sorted(rows)
            assert len({position for _, position in rows}) == len(rows)


def test_only_masked_rows_have_weight_and_their_targets_are_the_items_text(training, settings, tokenizer):
    item = training.kinds.items("training", 4, 1)[0]
    example = training.batches.encode(item, tokenizer)
    batch = training.batches.Sampler(settings, tokenizer, random.Random(4)).batch([example])
    text = example.prompt + example.response
    for token, position, target, weight in zip(
        *(column[0].tolist() for column in (batch.tokens, batch.positions, batch.targets, batch.weights)), strict=True
    ):
        if weight > 0:
            assert token == tokenizer.mask_token_id
            assert target == (text[position] if position < len(text) else tokenizer.eos_token_id)


def test_exit_masses_add_up_to_one_and_a_fresh_gate_spreads_them_evenly(training, model):
    logits = model.exit_gate.depth_bias.detach()[:, None]
    assert torch.allclose(training.objective.exit_log_mass(logits).exp(), torch.full((4, 1), 0.25))
    assert torch.allclose(training.objective.exit_log_mass(torch.randn(4, 7)).exp().sum(0), torch.ones(7))


def test_the_gate_learns_from_detached_features_only(training, settings, tokenizer, model):
    examples = [training.batches.encode(item, tokenizer) for item in training.kinds.items("training", 4, 1)]
    batch = training.batches.Sampler(settings, tokenizer, random.Random(4)).batch(examples)
    table = training.passes.rotary_table(model)
    training.objective.run(model, table, batch, settings.objective).gate_loss.backward()
    assert model.exit_gate.net.weight.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.model.parameters())


@pytest.mark.parametrize("shape", [(2, 16, 40), (2, 40, 16)])
def test_muon_steps_have_singular_values_near_one(training, shape):
    torch.manual_seed(0)
    values = torch.linalg.svdvals(training.muon.orthogonalised(torch.randn(shape)))
    assert values.min() > 0.5
    assert values.max() < 1.5


def test_the_tokenizer_gives_every_text_back_and_keeps_markers_whole(tokenizer):
    text = "<|im_start|>user\nnaïve  π\n\tx = 'user'<|im_end|>\n"
    ids = tokenizer(text, add_special_tokens=False).input_ids
    assert tokenizer.decode(ids) == text
    assert ids[0] == tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert tokenizer.mask_token_id not in ids


def test_a_tasks_prompt_is_the_chat_template_of_its_question(training, tokenizer):
    item = training.kinds.held_out()[0]
    turns = [{"role": "user", "content": item.question}]
    assert tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False) == item.prompt


def trained_folder(training, settings, tokenizer, folder: Path, seed: int) -> dict[str, bytes]:
    from demo_training import checkpoint, trainer

    lines: list[str] = []
    trained = trainer.train(settings, tokenizer, seed, lines.append)
    assert lines
    folder.mkdir()
    checkpoint.write(folder, trained.model, tokenizer, settings)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_seed_decides_every_byte_of_a_checkpoint_that_the_loader_reads(training, settings, tokenizer, tmp_path):
    short = msgspec.structs.replace(settings, steps=2, batch=2, chunks=1)
    runs = (("a", 0), ("b", 0), ("c", 1))
    first, again, other = (trained_folder(training, short, tokenizer, tmp_path / name, seed) for name, seed in runs)
    assert first == again
    assert first["model.safetensors"] != other["model.safetensors"]
    decoder = load_decoder(tmp_path / "a", device="cpu")
    generation = decoder.generate("<|im_start|>user\nCompute 1+1.<|im_end|>\n", DecodeSettings(max_new_tokens=3))
    assert generation.outer_steps is not None
