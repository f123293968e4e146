"""A local checkpoint as a candidate: what it describes, checks, clocks and yields."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from alodlm.candidates import local  # noqa: E402
from alodlm.candidates.local import LocalCandidate, LocalDecoder, load_decoder  # noqa: E402
from alodlm.decode.portable import PortableDecoder  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402
from alodlm.errors import InputError, MissingError  # noqa: E402
from alodlm.records import Task  # noqa: E402

TESTS = Path(__file__).resolve().parent.parent
SETTINGS = DecodeSettings(max_new_tokens=20)


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint of context 512 and vocabulary 96 with a tokenizer of single characters."""
    folder = tmp_path / "checkpoint"
    shutil.copytree(TESTS / "golden" / "full", folder)
    return shutil.copytree(TESTS / "model" / "characters", folder, dirs_exist_ok=True)


def task(number, prompt):
    return Task(benchmark="B", id=number, metric="exact", prompt=prompt, answer="1")


def test_a_decoder_takes_text_or_the_same_ids(checkpoint):
    decoder = load_decoder(checkpoint, device="cpu")
    ids = decoder.encode("What?")
    from_text, from_ids = decoder.generate("What?", SETTINGS), decoder.generate(ids, SETTINGS)
    assert from_text.token_ids == from_ids.token_ids and from_text.text == from_ids.text
    assert from_text.text == decoder.tokenizer.decode(from_text.token_ids) != ""
    assert from_text.prompt_tokens == len(ids) == 5


def test_ids_are_integers_of_any_kind_and_nothing_else(checkpoint):
    decoder = load_decoder(checkpoint, device="cpu")
    assert decoder.generate(torch.tensor([5, 9]), SETTINGS).token_ids == decoder.generate([5, 9], SETTINGS).token_ids
    with pytest.raises(TypeError):
        decoder.generate([5.5], SETTINGS)


def test_without_a_tokenizer_ids_work_and_text_says_what_is_missing(checkpoint):
    (checkpoint / "tokenizer.json").unlink()
    decoder = load_decoder(str(checkpoint), device="cpu")
    assert decoder.generate([5, 9], SETTINGS).text == ""
    with pytest.raises(MissingError, match=r"has no tokenizer.json"):
        decoder.generate("text", SETTINGS)


def test_settings_default_to_the_published_ones(checkpoint):
    assert load_decoder(checkpoint, device="cpu").generate([5] * 500).prompt_tokens == 500


def test_stop_tokens_end_a_generation_and_are_not_in_it(checkpoint):
    free = load_decoder(checkpoint, device="cpu").generate([5, 9], SETTINGS)
    assert free.stop_reason == "length"
    end = free.token_ids[7]
    (checkpoint / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, end]}))
    stopped = load_decoder(checkpoint, device="cpu").generate([5, 9], SETTINGS)
    assert stopped.stop_reason == "eos"
    assert stopped.token_ids == free.token_ids[: free.token_ids.index(end)]


def test_special_tokens_are_not_in_the_text(checkpoint):
    decoder = load_decoder(checkpoint, device="cpu")
    assert decoder.tokenizer.decode([6, 3, 7, 0, 1]) == "ab"


def test_the_clocks_cover_prefill_and_decoding_and_nothing_else(checkpoint, monkeypatch):
    """Time stands still but for what is done inside: each prefill takes 1 s, each window 10 s, tokenising 100 s."""
    decoder = load_decoder(checkpoint, device="cpu")
    now = [0.0]
    monkeypatch.setattr("alodlm.decode.portable.time.perf_counter", lambda: now[0])

    def slow(owner, name, seconds):
        original = getattr(owner, name)

        def slower(*arguments, **keywords):
            now[0] += seconds
            return original(*arguments, **keywords)

        monkeypatch.setattr(owner, name, slower)

    slow(PortableDecoder, "_prefill", 1)
    slow(PortableDecoder, "_run_window", 10)
    slow(decoder.tokenizer, "encode", 100)
    slow(decoder.tokenizer, "decode", 100)
    result = decoder.generate("What?", SETTINGS)
    assert result.prefill_seconds == 1 and result.decode_seconds == 10 * result.outer_steps
    assert result.wall_seconds == result.prefill_seconds + result.decode_seconds


def test_a_candidate_describes_the_model_by_content_and_the_settings_in_force(checkpoint, tmp_path):
    described = LocalCandidate(checkpoint, DecodeSettings(tau=0.8, max_new_tokens=9), device="cpu").describe()
    moved = shutil.copytree(checkpoint, tmp_path / "moved")
    assert LocalCandidate(moved, DecodeSettings(tau=0.8, max_new_tokens=9), device="cpu").describe() == described
    assert str(tmp_path) not in json.dumps(described) and len(described["identity"]) == 64
    protocol = described["protocol"]
    assert protocol["decode"] == {
        "q": 0.5, "tau": 0.8, "mode": "entropy", "window_size": 16, "position_penalty": pytest.approx(0.04),
        "max_new_tokens": 9,
    }  # fmt: skip
    assert (protocol["engine"], protocol["precision"], protocol["device"], protocol["gpu"]) == (
        "pytorch-sdpa-reference", "fp32", "cpu", None,
    )  # fmt: skip
    assert protocol["threads"] == torch.get_num_threads() and "prefill" in protocol["timing"]


def test_describing_and_checking_read_no_weights(checkpoint, monkeypatch):
    monkeypatch.setattr(LocalDecoder, "load", lambda self: pytest.fail("read the weights"))
    candidate = LocalCandidate(checkpoint, SETTINGS, device="cpu")
    candidate.describe()
    candidate.check([task(1, "fine")])


def test_every_prompt_that_does_not_fit_is_listed(checkpoint):
    candidate = LocalCandidate(checkpoint, SETTINGS, device="cpu")
    with pytest.raises(InputError) as caught:
        candidate.check([task(1, "a" * 493), task("two", "fine"), task(3, "a" * 600), task(4, "a\ud800")])
    message = str(caught.value)
    assert "3 problems" in message and "\nnext: " in message
    assert "B/1: a prompt of 493 tokens and a budget of 20 exceed the context of 512" in message
    assert "B/3: a prompt of 600 tokens and a budget" in message
    assert "B/4: cannot be encoded as UTF-8" in message
    assert "two" not in message


def test_a_prompt_that_encodes_to_nothing_is_a_problem(checkpoint, monkeypatch):
    candidate = LocalCandidate(checkpoint, SETTINGS, device="cpu")
    monkeypatch.setattr(candidate.decoder.tokenizer, "encode", lambda text: [])
    with pytest.raises(InputError, match="B/1: the prompt is empty"):
        candidate.check([task(1, "\u200b")])


def test_the_default_budget_is_what_the_context_leaves_each_prompt(checkpoint):
    candidate = LocalCandidate(checkpoint, DecodeSettings(), device="cpu")
    candidate.check([task(1, "a" * 500), task(2, "a" * 511)])
    with pytest.raises(InputError, match="leaves no room"):
        candidate.check([task(1, "a" * 512)])
    assert [g.generated_tokens for _, g in candidate.generate([task(1, "a" * 500), task(2, "a" * 511)])] == [12, 1]


def test_generations_come_in_task_order_and_lazily(checkpoint):
    candidate = LocalCandidate(checkpoint, SETTINGS, device="cpu")
    tasks = [task(number, f"prompt {number}") for number in range(3)]
    taken = []

    def watched():
        for one in tasks:
            taken.append(one.id)
            yield one

    answers = candidate.generate(watched())
    first, generation = next(answers)
    assert first is tasks[0] and taken == [0] and generation.generated_tokens == 20
    assert [one.id for one, _ in answers] == [1, 2]


def test_after_warming_up_the_first_generation_allocates_nothing(checkpoint):
    candidate = LocalCandidate(checkpoint, SETTINGS, device="cpu")
    tasks = [task(1, "a" * 300), task(2, "b" * 12)]
    candidate.check(tasks)
    candidate.load()
    candidate.warm_up()
    cache = candidate.decoder._decoder._cache
    assert cache.capacity == 320
    list(candidate.generate(tasks))
    assert candidate.decoder._decoder._cache is cache


def test_warming_up_fits_a_context_that_is_smaller_than_the_warm_up(checkpoint):
    values = json.loads((checkpoint / "config.json").read_text())
    (checkpoint / "config.json").write_text(json.dumps(values | {"max_position_embeddings": 9}))
    candidate = LocalCandidate(checkpoint, DecodeSettings(window_size=16), device="cpu")
    candidate.warm_up()
    assert candidate.decoder._decoder._cache.capacity <= 9


def test_a_model_config_file_and_a_device_map_reach_the_loader(checkpoint, tmp_path):
    plain = load_decoder(checkpoint, device="cpu").generate([5, 9], SETTINGS)
    loop = json.loads((checkpoint / "alodlm_config.json").read_text())
    (checkpoint / "alodlm_config.json").unlink()
    (tmp_path / "loop.yaml").write_text(json.dumps({"model": loop}))
    decoder = load_decoder(
        checkpoint, device="cpu", model_config=tmp_path / "loop.yaml", device_map={"": "cpu", "model.layers.1": "disk"}
    )
    assert decoder.generate([5, 9], SETTINGS).token_ids == plain.token_ids


def test_bf16_is_chosen_by_name(checkpoint):
    assert load_decoder(checkpoint, device="cpu", precision="bf16").generate([5, 9], SETTINGS).generated_tokens == 20


def test_asking_for_cuda_where_there_is_none_is_missing(checkpoint, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MissingError) as caught:
        load_decoder(checkpoint, device="cuda")
    assert caught.value.exit_code == 3 and "use --device cpu" in str(caught.value)


WITHOUT = """
    import sys
    for name in {names!r}:
        sys.modules[name] = None
    from alodlm.candidates.local import LocalCandidate, load_decoder
    from alodlm.errors import MissingError
    for make in (LocalCandidate, load_decoder):
        try:
            make("anything")
        except MissingError as error:
            print(error)
"""


@pytest.mark.parametrize(
    ("names", "said"),
    [(["torch"], "torch: is needed"), (["transformers", "accelerate"], "transformers, accelerate: are needed")],
)
def test_packages_that_are_missing_are_named_with_what_to_install(names, said):
    code = textwrap.dedent(WITHOUT.format(names=names))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.count(said) == 2 and result.stdout.count("pip install 'alodlm-eval[local]'") == 2


def test_the_packages_asked_for_are_those_of_the_extra(root):
    import tomllib

    extra = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["local"]
    assert {line.split(">")[0] for line in extra} == set(local._PACKAGES)


def test_a_mask_token_that_ends_sequences_is_refused(checkpoint):
    values = json.loads((checkpoint / "alodlm_config.json").read_text())
    (checkpoint / "generation_config.json").write_text(json.dumps({"eos_token_id": values["mask_token_id"]}))
    with pytest.raises(InputError, match="mask_token_id: must not be a token that ends a sequence"):
        LocalCandidate(checkpoint, DecodeSettings(), device="cpu")
