"""The cache: written in place behind the prefix, kept by moving a length, filled where depths did not run."""

from __future__ import annotations

import msgspec
import pytest

torch = pytest.importorskip("torch")

from alodlm.decode.cache import KeyValueCache  # noqa: E402
from alodlm.model.config import LoopedConfig  # noqa: E402

CPU = torch.device("cpu")
CONFIG = LoopedConfig(
    vocab_size=50, hidden_size=8, intermediate_size=8, num_hidden_layers=4, num_attention_heads=4,
    num_key_value_heads=2, head_dim=3, max_position_embeddings=50, rms_norm_eps=1e-6, rope_theta=1e4,
    tie_word_embeddings=False, loop_start=1, loop_end=3, max_depth=3, mask_token_id=1,
)  # fmt: skip


def rows(value, count, batch=2):
    return torch.full((batch, 2, count, 3), float(value))


def write(cache, depth, layer, value, count):
    return cache.at(depth)[layer].update(rows(value, count), rows(-value, count))


def kept(cache, depth, layer):
    past = cache.at(depth)[layer]
    return past.keys[0, 0, : cache.length, 0].tolist()


@pytest.fixture
def cache():
    return KeyValueCache(CONFIG, 20, torch.float32, [CPU] * 4, batch=2)


def test_rows_are_written_behind_the_prefix_without_moving_it(cache):
    write(cache, 0, 0, 1, 5)
    cache.keep(2, executed=1)
    keys, values = write(cache, 0, 0, 2, 3)
    assert keys.shape == values.shape == (2, 2, 5, 3)
    assert keys[1, 1, :, 2].tolist() == [1, 1, 2, 2, 2] and values[0, 0, :, 0].tolist() == [-1, -1, -2, -2, -2]
    assert keys.data_ptr() == cache.at(0)[0].keys.data_ptr(), "a view, not a copy"


def test_core_layers_have_a_cache_a_depth_and_the_others_one(cache):
    for depth in range(3):
        for layer in range(4):
            write(cache, depth, layer, 10 * layer + depth, 1)
    cache.keep(1, executed=3)
    assert [[kept(cache, depth, layer)[0] for layer in range(4)] for depth in range(3)] == [
        [2, 10, 20, 32], [2, 11, 21, 32], [2, 12, 22, 32],
    ]  # fmt: skip


@pytest.mark.parametrize(("executed", "expected"), [(1, [1, 1, 1]), (2, [1, 2, 2]), (3, [1, 2, 3])])
def test_depths_that_did_not_run_take_the_last_that_did(cache, executed, expected):
    for depth in range(3):
        write(cache, depth, 1, depth + 1, 4)
        write(cache, depth, 2, 10 * (depth + 1), 4)
    cache.keep(3, executed=executed)
    assert [kept(cache, depth, 1) for depth in range(3)] == [[value] * 3 for value in expected]
    assert [kept(cache, depth, 2) for depth in range(3)] == [[10 * value] * 3 for value in expected]
    values = cache.at(2)[1].values[1, 1, :3, 2].tolist()
    assert values == [-expected[2]] * 3


def test_only_rows_that_enter_the_prefix_are_filled(cache):
    for depth in range(3):
        write(cache, depth, 1, depth + 1, 2)
    cache.keep(2, executed=3)
    for depth in range(3):
        write(cache, depth, 1, 10 * (depth + 1), 3)
    cache.keep(1, executed=1)
    assert [kept(cache, depth, 1) for depth in range(3)] == [[1, 1, 10], [2, 2, 10], [3, 3, 10]]
    assert cache.at(2)[1].keys[0, 0, 3, 0] == 30, "a row that does not enter is left alone"


def test_clearing_forgets_the_prefix_and_keeps_the_memory(cache):
    write(cache, 0, 0, 1, 5)
    cache.keep(5, executed=3)
    before = cache.at(0)[0].keys.data_ptr()
    cache.clear()
    assert write(cache, 0, 0, 2, 1)[0].shape[2] == 1 and cache.at(0)[0].keys.data_ptr() == before


def test_layers_on_different_devices_have_their_caches_there():
    meta = torch.device("meta")
    cache = KeyValueCache(CONFIG, 4, torch.bfloat16, [CPU, CPU, meta, meta])
    pasts = cache.at(1)
    assert [past.keys.device.type for past in pasts] == ["cpu", "cpu", "meta", "meta"]
    assert {past.keys.dtype for past in pasts} == {torch.bfloat16}
    cache.keep(2, executed=1)


@pytest.mark.parametrize(("start", "end"), [(0, 4), (0, 1), (3, 4)])
def test_a_stack_may_have_no_prelude_or_coda(start, end):
    config = msgspec.structs.replace(CONFIG, loop_start=start, loop_end=end)
    cache = KeyValueCache(config, 4, torch.float32, [CPU] * 4, batch=2)
    for layer in range(4):
        write(cache, 0, layer, layer + 1, 1)
        write(cache, 2, layer, 10 * (layer + 1), 1)
    cache.keep(1, executed=3)
    looped = [kept(cache, 0, layer) != kept(cache, 2, layer) for layer in range(4)]
    assert looped == [start <= layer < end for layer in range(4)]
