"""The portable decoder beyond the golden vectors: reuse of caches, long prompts, bf16, refusals, clocks."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from alodlm.decode import portable  # noqa: E402
from alodlm.decode.portable import PortableDecoder  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402
from alodlm.errors import InputError, StageError  # noqa: E402
from alodlm.model.checkpoint import open_checkpoint  # noqa: E402

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CPU = torch.device("cpu")
SETTINGS = DecodeSettings(max_new_tokens=40)
PROMPT = [(7 * index) % 90 + 4 for index in range(60)]


@pytest.fixture(scope="module")
def model():
    return open_checkpoint(GOLDEN / "sandwich").load(CPU, torch.float32)


def content(generation):
    """A generation without its clocks."""
    names = [name for name in generation.__struct_fields__ if not name.endswith("_seconds")]
    return {name: getattr(generation, name) for name in names}


def test_a_generation_does_not_depend_on_what_was_decoded_before(model):
    fresh = content(PortableDecoder(model, CPU, [2]).generate(PROMPT[:5], SETTINGS))
    used = PortableDecoder(model, CPU, [2])
    used.generate(PROMPT, DecodeSettings(max_new_tokens=90, mode="left1"))
    assert content(used.generate(PROMPT[:5], SETTINGS)) == fresh
    assert content(used.generate(PROMPT[:5], SETTINGS)) == fresh


@pytest.mark.parametrize("rows", [1, 7, 59, 60])
def test_a_prompt_prefilled_in_blocks_gives_the_same_tokens(model, monkeypatch, rows):
    whole = PortableDecoder(model, CPU, []).generate(PROMPT, SETTINGS)
    monkeypatch.setattr(portable, "_PREFILL_ROWS", rows)
    blocks = PortableDecoder(model, CPU, []).generate(PROMPT, SETTINGS)
    assert (blocks.token_ids, blocks.exit_depths) == (whole.token_ids, whole.exit_depths)
    assert blocks.first_pass_halt_probabilities == pytest.approx(whole.first_pass_halt_probabilities, abs=1e-4)


def test_memory_reserved_ahead_is_not_allocated_again(model):
    decoder = PortableDecoder(model, CPU, [])
    decoder.reserve(len(PROMPT) + 40)
    cache = decoder._cache
    decoder.generate(PROMPT, SETTINGS)
    decoder.generate(PROMPT[:3], SETTINGS)
    assert decoder._cache is cache


@pytest.mark.parametrize("mode", ["entropy", "left1"])
def test_bf16_decodes_within_the_rules(mode):
    model = open_checkpoint(GOLDEN / "full").load(CPU, torch.bfloat16)
    decoder = PortableDecoder(model, CPU, [])
    assert decoder._cache.at(0)[0].keys.dtype == torch.bfloat16
    result = decoder.generate(PROMPT, DecodeSettings(max_new_tokens=40, mode=mode))
    assert result.generated_tokens == 40 and result.stop_reason == "length"
    assert all(0 <= token < 96 for token in result.token_ids)
    assert all(1 <= depth <= 4 for depth in result.exit_depths)


def test_the_whole_context_can_be_filled(model):
    prompt = [5] * 500
    result = PortableDecoder(model, CPU, []).generate(prompt, DecodeSettings())
    assert (result.prompt_tokens, result.generated_tokens) == (500, 12)


def test_times_add_up_and_cover_something(model):
    result = PortableDecoder(model, CPU, []).generate(PROMPT, SETTINGS)
    assert result.prefill_seconds > 0 and result.decode_seconds > 0
    assert result.wall_seconds == result.prefill_seconds + result.decode_seconds


@pytest.mark.parametrize(
    ("prompt", "settings", "reason"),
    [
        ([], SETTINGS, "the prompt is empty"),
        ([4, 96], SETTINGS, "token 96 at index 1 is outside the vocabulary of 96"),
        ([4] * 500, SETTINGS, "a prompt of 500 tokens and a budget of 40 exceed the context of 512"),
        ([4] * 512, DecodeSettings(), "leaves no room in the context of 512"),
    ],
)
def test_what_cannot_be_decoded_is_refused_before_anything_is_allocated(model, prompt, settings, reason):
    decoder = PortableDecoder(model, CPU, [])
    with pytest.raises(InputError, match=reason):
        decoder.generate(prompt, settings)
    assert decoder._cache.capacity == 1


def test_caches_beyond_the_memory_are_a_message_and_the_decoder_stays_usable(model, monkeypatch):
    decoder = PortableDecoder(model, CPU, [])

    def refuse(*arguments, **keywords):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(portable, "KeyValueCache", refuse)
        with pytest.raises(StageError, match=r"caches for 100 tokens: memory ran out\nnext: lower --max-new-tokens"):
            decoder.generate(PROMPT, SETTINGS)
    assert decoder.generate(PROMPT, SETTINGS).generated_tokens == 40


def test_memory_that_runs_out_while_decoding_is_a_message(model, monkeypatch):
    def refuse(self, prompt):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(PortableDecoder, "_prefill", refuse)
    with pytest.raises(StageError, match="decoding a prompt of 60 tokens: memory ran out"):
        PortableDecoder(model, CPU, []).generate(PROMPT, SETTINGS)


def test_the_host_reads_one_small_tensor_a_pass(model, monkeypatch):
    reads = []
    read = portable._read
    monkeypatch.setattr(portable, "_read", lambda state: reads.append(state.tokens.numel()) or read(state))
    for name in ("item", "__bool__", "__int__", "__float__", "numpy"):
        monkeypatch.setattr(torch.Tensor, name, lambda *_: pytest.fail("a further host read"))
    result = PortableDecoder(model, CPU, []).generate(PROMPT, SETTINGS)
    assert len(reads) == result.recurrent_passes and max(reads) <= 16


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", ["full", "mix", "sandwich"])
def test_cuda_gives_the_tokens_of_the_cpu_in_float32(name):
    checkpoint = open_checkpoint(GOLDEN / name)
    cuda = torch.device("cuda", torch.cuda.current_device())
    there = PortableDecoder(checkpoint.load(cuda, torch.float32), cuda, []).generate(PROMPT, SETTINGS)
    here = PortableDecoder(checkpoint.load(CPU, torch.float32), CPU, []).generate(PROMPT, SETTINGS)
    assert (there.token_ids, there.exit_depths) == (here.token_ids, here.exit_depths)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_breaks_ties_by_the_lowest_index():
    from alodlm.decode.policy import commit_statistics, least

    logits = torch.zeros(64, 151936, device="cuda")
    logits[:, 1000::7] = 2.0
    assert commit_statistics(logits)[0].tolist() == [1000] * 64
    rows = torch.arange(32, device="cuda").expand(64, 32) >= 5
    assert least(torch.zeros(64, 32, device="cuda"), rows).int().argmax(-1).tolist() == [5] * 64
