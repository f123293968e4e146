"""Every rule and tie of commit and halt, on numbers small enough to work out by hand."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from alodlm.decode import policy  # noqa: E402
from alodlm.decode.settings import DecodeSettings  # noqa: E402


def window(positions, masked=None):
    positions = torch.tensor([positions])
    masked = torch.ones_like(positions, dtype=torch.bool) if masked is None else torch.tensor([masked]).bool()
    return policy.start_window(masked, positions)


def advance(state, entropy, hazards=0.0, *, depth=0, last=False, tokens=None, **settings):
    """One step of a single sequence; tokens default to 100 + row."""
    rows = state.distance.shape[1]
    entropy = torch.tensor([entropy])
    tokens = torch.arange(100, 100 + rows)[None] if tokens is None else torch.tensor([tokens])
    hazards = torch.full((1, rows), hazards) if isinstance(hazards, float) else torch.tensor([hazards])
    settings = DecodeSettings(**{"q": 1.0, "tau": 0.5, "position_penalty": 0.0} | settings)
    state, now = policy.step(state, (tokens, entropy), hazards, depth, settings, last=last)
    return state, now[0].int().tolist()


def running(state):
    return bool(state.running[0])


# -- statistics


def test_entropy_is_of_the_full_softmax_in_nats():
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [math.log(2), 0.0, -90.0, -80.0], [5.0, 5.0, 5.0, 7.0]])
    tokens, entropy = policy.commit_statistics(logits)
    third = torch.distributions.Categorical(logits=logits[2]).entropy().item()
    assert tokens.tolist() == [0, 0, 3]
    assert entropy.tolist() == pytest.approx([math.log(4), math.log(3) - 2 / 3 * math.log(2), third], abs=1e-6)


def test_a_certain_row_has_an_entropy_of_exactly_zero():
    _, entropy = policy.commit_statistics(torch.tensor([[1000.0, 0.0, -5.0], [-300.0, -450.0, -1e9]]))
    assert entropy.tolist() == [0.0, 0.0]


def test_the_argmax_is_the_lowest_index_on_a_tie():
    logits = torch.zeros(3, 1000)
    logits[1, [7, 500, 999]] = 3.0
    logits[2, 999] = 3.0
    assert policy.commit_statistics(logits)[0].tolist() == [0, 7, 999]


def test_statistics_leave_the_logits_alone():
    logits = torch.randn(2, 3, 50)
    before = logits.clone()
    tokens, entropy = policy.commit_statistics(logits)
    assert torch.equal(logits, before) and tokens.shape == entropy.shape == (2, 3)


# -- commits


def test_every_row_below_tau_commits_and_equality_is_not_below():
    _, now = advance(window([0, 1, 2, 3]), [0.5, 0.499, 0.0, 0.501])
    assert now == [0, 1, 1, 0]


def test_with_tau_zero_nothing_is_below_even_at_entropy_zero():
    state, now = advance(window([0, 1]), [0.0, 0.0], tau=0.0)
    assert now == [0, 0] and running(state)


def test_the_penalty_counts_positions_from_the_first_masked_row_not_rows():
    _, now = advance(window([10, 11, 14, 18]), [0.25, 0.25, 0.25, 0.25], position_penalty=0.0625)
    assert now == [1, 1, 0, 0], "adjusted: 0.25, 0.3125, 0.5 (not below), 0.75"


def test_the_penalty_defaults_to_a_twentieth_of_tau():
    assert DecodeSettings(tau=2.0).penalty == pytest.approx(0.1)
    _, now = advance(window([0, 9, 11]), [1.0, 1.0, 1.0], tau=2.0, position_penalty=None)
    assert now == [1, 1, 0], "adjusted: 1.0, 1.9, 2.1"


def test_the_penalty_stays_measured_from_the_first_masked_row_after_it_commits():
    state, _ = advance(window([0, 4]), [0.0, 0.45], position_penalty=0.1)
    state, now = advance(state, [9.0, 0.45], depth=1, position_penalty=0.1)
    assert now == [0, 0] and running(state)


def test_left1_commits_exactly_the_leftmost_open_row_a_pass_whatever_its_entropy():
    state, now = advance(window([3, 4, 5]), [9.0, 0.0, 0.0], mode="left1")
    assert now == [1, 0, 0]
    state, now = advance(state, [0.0, 9.0, 0.0], depth=1, mode="left1")
    assert now == [0, 1, 0]
    state, now = advance(state, [0.0, 0.0, 9.0], depth=2, mode="left1")
    assert now == [0, 0, 1] and not running(state)
    assert state.depths.tolist() == [[1, 2, 3]] and state.tokens.tolist() == [[100, 101, 102]]


def test_a_committed_row_keeps_its_token_depth_and_first_hazard():
    state, _ = advance(window([0, 1]), [0.1, 0.9], [0.25, 0.125])
    state, now = advance(state, [0.0, 0.1], [0.75, 0.5], depth=1, tokens=[7, 8])
    assert now == [0, 1]
    assert state.tokens.tolist() == [[100, 8]] and state.depths.tolist() == [[1, 2]]
    assert state.first_hazards.tolist() == [[0.25, 0.125]]


# -- halting


def test_a_window_halts_when_the_mean_over_open_rows_reaches_q_exactly():
    state, _ = advance(window([0, 1]), [9.0, 9.0], [0.25, 0.75], q=0.5)
    assert not running(state)
    state, _ = advance(window([0, 1]), [9.0, 9.0], [0.25, 0.7499], q=0.5)
    assert running(state)


def test_survival_is_the_product_over_passes():
    state, _ = advance(window([0]), [9.0], 0.5, q=0.75)
    assert running(state)
    state, _ = advance(state, [9.0], 0.5, depth=1, q=0.75)
    assert not running(state) and state.survival.item() == 0.25


def test_rows_that_committed_leave_the_mean_including_those_of_this_pass():
    state, _ = advance(window([0, 1]), [0.0, 9.0], [1.0, 0.25], q=0.5)
    assert running(state), "the open row alone has 0.25; both together would have 0.625"
    state, _ = advance(window([0, 1]), [0.0, 9.0], [0.0, 0.5], q=0.5)
    assert not running(state), "the open row alone has 0.5; both together would have 0.25"


def test_survival_of_a_committed_row_goes_on():
    state, _ = advance(window([0, 1]), [0.0, 9.0], [0.5, 0.0])
    state, _ = advance(state, [0.0, 9.0], [0.5, 0.0], depth=1)
    assert state.survival.tolist() == [[0.25, 1.0]]


def test_q_zero_halts_at_once_and_q_one_only_on_certainty():
    assert not running(advance(window([0]), [9.0], 0.0, q=0.0)[0])
    assert running(advance(window([0]), [9.0], 0.999, q=1.0)[0])
    assert not running(advance(window([0]), [9.0], 1.0, q=1.0)[0])


def test_a_window_halts_when_nothing_is_open():
    state, now = advance(window([0, 1]), [0.0, 0.0], 0.0)
    assert now == [1, 1] and not running(state)


def test_the_last_pass_stops_the_window():
    state, _ = advance(window([0, 1]), [0.0, 9.0], 0.0, depth=3, last=True)
    assert not running(state) and state.depths.tolist() == [[4, 0]]


# -- forced commits


def test_a_window_that_stops_empty_handed_commits_its_least_adjusted_row():
    state, now = advance(window([0, 2, 3]), [0.75, 0.65, 0.5], 1.0, q=0.5, position_penalty=0.125)
    assert now == [1, 0, 0], "adjusted 0.75, 0.9, 0.875; raw entropy would pick the last"
    assert state.depths.tolist() == [[1, 0, 0]] and not running(state)


def test_a_forced_tie_goes_to_the_lowest_index():
    assert advance(window([0, 1, 2]), [0.75, 0.625, 0.5], 1.0, position_penalty=0.125)[1] == [1, 0, 0]
    assert advance(window([0, 1, 2]), [0.875, 0.625, 0.5], 1.0, position_penalty=0.125)[1] == [0, 1, 0]


def test_a_forced_commit_uses_the_entropies_and_the_depth_of_the_pass_that_stopped():
    state, now = advance(window([0, 1]), [0.6, 0.9], 0.0)
    assert now == [0, 0]
    state, now = advance(state, [0.9, 0.6], 0.0, depth=1, last=True)
    assert now == [0, 1] and state.depths.tolist() == [[0, 2]]


def test_nothing_is_forced_when_something_committed_in_an_earlier_pass():
    state, _ = advance(window([0, 1]), [0.0, 9.0], 0.0)
    state, now = advance(state, [9.0, 9.0], 1.0, depth=1)
    assert now == [0, 0] and not running(state)


def test_nothing_is_forced_while_the_window_runs_on():
    state, now = advance(window([0, 1]), [9.0, 9.0], 0.0)
    assert now == [0, 0] and running(state)


# -- batches


def test_padding_rows_neither_commit_nor_count():
    state = window([5, 9, 0], masked=[1, 1, 0])
    assert state.distance[0, :2].tolist() == [0.0, 4.0]
    state, now = advance(state, [9.0, 9.0, 0.0], [0.25, 0.75, 0.0], q=0.5)
    assert now == [1, 0, 0] and not running(state), "the mean is over the two masked rows, and one of them is forced"


def test_a_padding_row_in_front_does_not_move_the_first_position():
    state = window([0, 5, 9], masked=[0, 1, 1])
    assert state.distance[0, 1:].tolist() == [0.0, 4.0]
    assert advance(state, [0.0, 9.0, 9.0], mode="left1")[1] == [0, 1, 0]


def test_a_commit_in_one_sequence_does_not_spare_another_its_forced_one():
    state = policy.start_window(torch.ones(2, 2, dtype=torch.bool), torch.tensor([[0, 1], [0, 1]]))
    statistics = torch.tensor([[7, 8], [9, 6]]), torch.tensor([[0.0, 9.0], [9.0, 8.0]])
    settings = DecodeSettings(position_penalty=0.0)
    _, now = policy.step(state, statistics, torch.ones(2, 2), 0, settings, last=False)
    assert now.int().tolist() == [[1, 0], [0, 1]]


def test_a_place_in_the_batch_without_masked_rows_stops_and_commits_nothing():
    state, now = advance(window([0, 0], masked=[0, 0]), [0.0, 9.0])
    assert now == [0, 0] and not running(state) and state.depths.tolist() == [[0, 0]]


def test_sequences_of_a_batch_decide_alone_and_a_stopped_one_never_changes():
    settings = DecodeSettings(q=0.5, tau=0.5, position_penalty=0.0)
    generator = torch.Generator().manual_seed(3)
    positions = torch.tensor([[4, 5, 7], [0, 1, 2], [8, 9, 30]])
    draws = [
        (
            torch.randint(0, 99, (3, 3), generator=generator),
            torch.rand(3, 3, generator=generator) + 0.2,
            torch.rand(3, 3, generator=generator) / 2,
        )
        for _ in range(4)
    ]
    batch = policy.start_window(torch.ones(3, 3, dtype=torch.bool), positions)
    alone = [policy.start_window(torch.ones(1, 3, dtype=torch.bool), positions[i : i + 1]) for i in range(3)]
    stopped_at = [None] * 3
    for depth, (tokens, entropy, hazards) in enumerate(draws):
        batch, _ = policy.step(batch, (tokens, entropy), hazards, depth, settings, last=depth == 3)
        for i in range(3):
            if stopped_at[i] is None:
                one = (tokens[i : i + 1], entropy[i : i + 1])
                alone[i], _ = policy.step(alone[i], one, hazards[i : i + 1], depth, settings, last=depth == 3)
                stopped_at[i] = depth if not alone[i].running else None
    assert len(set(stopped_at)) > 1, "the case would not show a stopped sequence beside a running one"
    for i in range(3):
        for field in ("tokens", "depths", "first_hazards", "running"):
            assert torch.equal(getattr(batch, field)[i], getattr(alone[i], field)[0]), field


class Operations(TorchDispatchMode):
    """Collects the names of the operations that run."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("mode", ["entropy", "left1"])
def test_the_policy_reads_nothing_on_the_host_and_has_static_shapes(mode):
    with Operations() as ran:
        state = window([0, 1, 5])
        statistics = policy.commit_statistics(torch.randn(1, 3, 10))
        policy.step(state, statistics, torch.rand(1, 3), 0, DecodeSettings(mode=mode), last=False)
    assert {"where", "max", "argmin"} <= ran.names
    assert not ran.names & {"_local_scalar_dense", "nonzero", "masked_select", "index"}
