"""The golden vectors tell the right decoder from plausible wrong ones: each variant here must fail one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from alodlm.decode import policy  # noqa: E402
from alodlm.decode.cache import KeyValueCache, LayerPast  # noqa: E402
from alodlm.decode.portable import PortableDecoder  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402
from alodlm.model.checkpoint import open_checkpoint  # noqa: E402

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
FIELDS = ("token_ids", "exit_depths", "stop_reason", "outer_steps", "recurrent_passes", "loop_token_passes")


def passes_all_vectors():
    for name in ("ties", "mix", "sandwich", "full"):
        model = open_checkpoint(GOLDEN / name).load(torch.device("cpu"), torch.float32)
        for line in (GOLDEN / name / "expected.jsonl").read_text().splitlines():
            case = json.loads(line)
            settings = DecodeSettings(**{field: case[field] for field in DecodeSettings.__struct_fields__})
            decoder = PortableDecoder(model, torch.device("cpu"), case["stop_token_ids"])
            got = decoder.generate(case["prompt_ids"], settings)
            if any(getattr(got, field) != case["expected"][field] for field in FIELDS):
                return False
    return True


def penalty_by_row(patch):
    start = policy.start_window

    def by_row(masked, positions):
        state = start(masked, positions)
        return state._replace(distance=torch.arange(positions.shape[1])[None].float())

    patch.setattr(policy, "start_window", by_row)


def penalty_from_the_first_open_row(patch):
    step = policy.step

    def moving(state, *arguments, **keywords):
        first = torch.where(state.open, state.distance, torch.inf).amin(-1, keepdim=True)
        after, now = step(state._replace(distance=state.distance - first), *arguments, **keywords)
        return after._replace(distance=state.distance), now

    patch.setattr(policy, "step", moving)


def forced_commit_by_raw_entropy(patch):
    statistics, least, last = policy.commit_statistics, policy.least, {}

    def remember(logits):
        last["entropy"] = statistics(logits)[1]
        return statistics(logits)

    patch.setattr(policy, "commit_statistics", remember)
    patch.setattr(policy, "least", lambda values, rows: least(last["entropy"], rows))


def commit_at_tau_itself(patch):
    step = policy.step

    def inclusive(state, statistics, hazards, depth, settings, *, last):
        tokens, entropy = statistics
        entropy = torch.where(entropy + state.distance * settings.penalty == settings.tau, entropy - 1e-6, entropy)
        return step(state, (tokens, entropy), hazards, depth, settings, last=last)

    patch.setattr(policy, "step", inclusive)


def halt_only_beyond_q(patch):
    halt = policy.should_halt
    patch.setattr(policy, "should_halt", lambda survival, rows, q: halt(survival, rows, q + 1e-6))


def halt_by_the_mean_over_all_rows(patch):
    halt = policy.should_halt

    def over_all(survival, still_open, q):
        return halt(survival, torch.ones_like(still_open), q) | ~still_open.any(-1)

    patch.setattr(policy, "should_halt", over_all)


def sticky_injection(patch):
    carry = PortableDecoder._carry

    def sticky(self, hidden, observed, state, now):
        return carry(self, hidden, observed, state, state.depths > 0)

    patch.setattr(PortableDecoder, "_carry", sticky)


def no_injection(patch):
    carry = PortableDecoder._carry

    def without(self, hidden, observed, state, now):
        return carry(self, hidden, observed, state, torch.zeros_like(now))

    patch.setattr(PortableDecoder, "_carry", without)


def injected_embeddings_are_normalised(patch):
    carry = PortableDecoder._carry

    def normalised(self, hidden, observed, state, now):
        after = carry(self, hidden, observed, state, now)
        rows = self.model.final_norm(after[:, observed:])
        after[:, observed:] = torch.where(now.unsqueeze(-1), rows, after[:, observed:])
        return after

    patch.setattr(PortableDecoder, "_carry", normalised)


def depths_filled_from_the_first_pass(patch):
    keep = KeyValueCache.keep

    def first(self, rows, executed):
        start = self.length
        keep(self, rows, executed)
        for looped in self._cores:
            looped[:, :, executed:, ..., start : self.length, :] = looped[:, :, :1, ..., start : self.length, :]

    patch.setattr(KeyValueCache, "keep", first)


def depths_not_filled(patch):
    def unfilled(self, rows, executed):
        for looped in self._cores:
            looped[:, :, executed:, ..., self.length : self.length + rows, :] = 0
        self.length += rows

    patch.setattr(KeyValueCache, "keep", unfilled)


def every_depth_overwritten_by_the_last(patch):
    def overwrite(self, rows, executed):
        span = slice(self.length, self.length + rows)
        for looped in self._cores:
            looped[..., span, :] = looped[:, :, executed - 1 : executed, ..., span, :].clone()
        self.length += rows

    patch.setattr(KeyValueCache, "keep", overwrite)


def coda_keys_of_the_first_pass(patch):
    update, run, seen = LayerPast.update, PortableDecoder._run_window, set()

    def once(self, keys, values):
        one_cache = self.keys.data_ptr() == self._cache.at(1)[-1].keys.data_ptr()
        if not (one_cache and seen):
            if one_cache:
                seen.add(True)
            return update(self, keys, values)
        start, stop = self._cache.length, self._cache.length + keys.shape[2]
        kept = self.keys[:, :, start:stop].clone(), self.values[:, :, start:stop].clone()
        shown = [part.clone() for part in update(self, keys, values)]
        self.keys[:, :, start:stop], self.values[:, :, start:stop] = kept
        return shown

    def window(self, *arguments):
        seen.clear()
        return run(self, *arguments)

    patch.setattr(LayerPast, "update", once)
    patch.setattr(PortableDecoder, "_run_window", window)


def rotation_by_row_instead_of_position(patch):
    rows = PortableDecoder._rows

    def by_row(self, positions):
        return rows(self, self._cache.length + torch.arange(positions.shape[1])[None])

    patch.setattr(PortableDecoder, "_rows", by_row)


WRONG = (
    penalty_by_row, penalty_from_the_first_open_row, forced_commit_by_raw_entropy, commit_at_tau_itself,
    halt_only_beyond_q, halt_by_the_mean_over_all_rows, sticky_injection, no_injection,
    injected_embeddings_are_normalised, depths_filled_from_the_first_pass, depths_not_filled,
    every_depth_overwritten_by_the_last, coda_keys_of_the_first_pass, rotation_by_row_instead_of_position,
)  # fmt: skip


@pytest.mark.parametrize("variant", WRONG, ids=lambda variant: variant.__name__)
def test_a_wrong_variant_fails_a_golden_vector(monkeypatch, variant):
    variant(monkeypatch)
    assert not passes_all_vectors()
