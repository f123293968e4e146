"""Slots, emission and budgets: what one sequence does between windows, worked out by hand."""

from __future__ import annotations

import pytest

from alodlm.decode.sequence import SequenceState, checked_budget, prompt_problem, token_budget
from alodlm.decode.settings import DecodeSettings
from alodlm.decode.window import Commit, Window
from alodlm.errors import InputError
from alodlm.model.config import LoopedConfig

CONFIG = LoopedConfig(
    vocab_size=50, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1,
    num_key_value_heads=1, head_dim=8, max_position_embeddings=5000, rms_norm_eps=1e-6, rope_theta=1e4,
    tie_word_embeddings=False, loop_start=0, loop_end=1, max_depth=2, mask_token_id=1,
)  # fmt: skip


def commit(token):
    return Commit(token, depth=token % 3 + 1, first_hazard=token / 100)


def slots(*tokens):
    return Window(tuple(None if token is None else commit(token) for token in tokens))


def test_the_lead_ends_at_the_first_empty_slot():
    assert slots(None, 4).lead == ()
    assert slots(4, 5, None, 6).lead == (commit(4), commit(5))
    assert slots(4, 5).lead == (commit(4), commit(5))
    assert Window().lead == ()


def test_rows_are_the_filled_slots_and_then_the_empty_ones_each_by_position():
    assert slots(None, 7, None, 8, None).order() == ([1, 3, 0, 2, 4], 2)


def test_windows_change_by_value():
    window = slots(None, 7, None)
    assert window.filled({0: commit(3)}) == slots(3, 7, None)
    assert window.grown(5) == slots(None, 7, None, None, None)
    assert slots(3, 7, None).dropped(2) == slots(None)
    assert window == slots(None, 7, None)


def sequence(budget, stop_ids=(), window_size=4):
    return SequenceState(DecodeSettings(window_size=window_size), budget, stop_ids)


def out(state):
    return [c.token for c in state.emitted]


def test_a_token_is_emitted_one_window_after_it_commits():
    state = sequence(budget=9)
    assert state.next_window() == slots(None, None, None, None)
    state.advance({0: commit(10), 1: commit(11), 3: commit(13)}, passes=2)
    assert out(state) == []
    assert state.next_window() == slots(10, 11, None, 13, None, None)
    state.advance({2: commit(12)}, passes=1)
    assert out(state) == [10, 11]
    assert state.window == slots(12, 13, None, None)
    assert (state.windows, state.passes, state.row_passes) == (2, 3, 2 * 4 + 1 * 6)


def test_the_last_tokens_are_emitted_without_another_window():
    state = sequence(budget=3)
    assert state.next_window() == slots(None, None, None)
    state.advance({0: commit(1), 1: commit(2), 2: commit(3)}, passes=1)
    assert state.next_window() is None
    assert (out(state), state.stop_reason, state.windows) == ([1, 2, 3], "length", 1)


def test_the_window_never_reaches_beyond_the_budget():
    state = sequence(budget=5)
    state.next_window()
    state.advance({0: commit(1), 1: commit(2)}, passes=1)
    assert state.next_window() == slots(1, 2, None, None, None)
    state.advance({2: commit(3)}, passes=1)
    assert state.next_window() == slots(3, None, None)


def test_a_stop_token_in_the_lead_ends_the_sequence_before_it():
    state = sequence(budget=9, stop_ids={7, 8})
    state.next_window()
    state.advance({0: commit(5), 1: commit(8), 2: commit(6), 3: commit(7)}, passes=1)
    assert state.next_window() is None
    assert (out(state), state.stop_reason) == ([5], "eos")


def test_a_stop_token_behind_an_empty_slot_waits():
    state = sequence(budget=9, stop_ids={7})
    state.next_window()
    state.advance({0: commit(5), 2: commit(7)}, passes=1)
    assert state.next_window() == slots(5, None, 7, None, None)


def test_a_stop_token_wins_over_the_budget():
    state = sequence(budget=2, stop_ids={7})
    state.next_window()
    state.advance({0: commit(5), 1: commit(7)}, passes=1)
    assert state.next_window() is None
    assert (out(state), state.stop_reason) == ([5], "eos")


def test_a_stop_token_at_once_leaves_an_empty_answer_with_no_means():
    state = sequence(budget=2, stop_ids={7})
    state.next_window()
    state.advance({0: commit(7)}, passes=3)
    assert state.next_window() is None
    record = state.generation(4, prefill_seconds=0.5, decode_seconds=0.25)
    assert (record.generated_tokens, record.token_ids, record.exit_depths) == (0, [], [])
    assert record.mean_exit_depth is None and record.loop_token_passes_per_output_token is None
    assert (record.wall_seconds, record.prompt_tokens, record.recurrent_passes) == (0.75, 4, 3)


def test_the_record_counts_and_averages_what_was_emitted():
    state = sequence(budget=3)
    state.next_window()
    state.advance({0: commit(3), 1: commit(4), 2: commit(5)}, passes=2)
    state.next_window()
    record = state.generation(1, 0.1, 0.2)
    assert (record.token_ids, record.exit_depths) == ([3, 4, 5], [1, 2, 3])
    assert record.first_pass_halt_probabilities == [0.03, 0.04, 0.05]
    assert (record.mean_exit_depth, record.loop_token_passes) == (2.0, 6)
    assert record.loop_token_passes_per_output_token == 2.0


@pytest.mark.parametrize(("prompt", "given", "budget"), [(10, None, 4096), (4000, None, 1000), (10, 7, 7)])
def test_the_budget_is_as_given_or_what_the_context_leaves(prompt, given, budget):
    assert token_budget(prompt, DecodeSettings(max_new_tokens=given), CONFIG) == budget


@pytest.mark.parametrize(
    ("ids", "given", "problem"),
    [
        ([], None, "the prompt is empty"),
        ([3, 50], None, "token 50 at index 1 is outside the vocabulary of 50"),
        ([3, -1], None, "token -1 at index 1 is outside the vocabulary of 50"),
        ([3] * 5000, None, "a prompt of 5000 tokens leaves no room in the context of 5000"),
        ([3] * 4000, 1001, "a prompt of 4000 tokens and a budget of 1001 exceed the context of 5000"),
        ([3] * 4000, 1000, None),
        ([3] * 4999, None, None),
        ([0, 49], None, None),
    ],
)
def test_what_cannot_be_decoded_is_said_before_any_work(ids, given, problem):
    settings = DecodeSettings(max_new_tokens=given)
    assert prompt_problem(ids, settings, CONFIG) == problem
    if problem is None:
        assert checked_budget(ids, settings, CONFIG) >= 1
    else:
        with pytest.raises(InputError) as caught:
            checked_budget(ids, settings, CONFIG)
        assert problem in str(caught.value) and "\nnext: " in str(caught.value)
