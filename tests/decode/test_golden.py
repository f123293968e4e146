"""The portable decoder against the golden vectors, which float64 arithmetic made independently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from alodlm.decode.portable import PortableDecoder  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402
from alodlm.model.checkpoint import open_checkpoint  # noqa: E402

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
EXACT = ("token_ids", "exit_depths", "stop_reason", "outer_steps", "recurrent_passes", "loop_token_passes",
         "generated_tokens")  # fmt: skip
CASES = [
    pytest.param(name, row, id=f"{name}-{number}")
    for name in ("full", "mix", "sandwich", "ties")
    for number, row in enumerate((GOLDEN / name / "expected.jsonl").read_text().splitlines())
]


@pytest.fixture(scope="module")
def models():
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = open_checkpoint(GOLDEN / name).load(torch.device("cpu"), torch.float32)
        return loaded[name]

    return load


@pytest.mark.parametrize(("name", "row"), CASES)
def test_decoding_gives_the_golden_vector(models, name, row):
    case = json.loads(row)
    settings = DecodeSettings(**{field: case[field] for field in DecodeSettings.__struct_fields__})
    decoder = PortableDecoder(models(name), torch.device("cpu"), case["stop_token_ids"])
    got = decoder.generate(case["prompt_ids"], settings)
    expected = case["expected"]
    assert {field: getattr(got, field) for field in EXACT} == {field: expected[field] for field in EXACT}
    hazards = expected["first_pass_halt_probabilities"]
    assert got.first_pass_halt_probabilities == pytest.approx(hazards, abs=1e-4)
