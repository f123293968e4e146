"""Configuration files: what is read, and every refusal with its file, key and value."""

from __future__ import annotations

import json

import pytest

from alodlm.errors import InputError, MissingError
from alodlm.model.config import read_config


@pytest.mark.parametrize(
    ("changes", "theta"),
    [
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}, 5e5),
        ({"rope_parameters": ..., "rope_theta": 1000000}, 1e6),
        ({"rope_parameters": ...}, 1e4),
        ({"rope_parameters": None, "rope_scaling": None, "rope_theta": 7}, 7),
        ({"rope_parameters": {"rope_theta": 3.0}, "rope_theta": 3}, 3),
        ({"rope_parameters": ..., "rope_scaling": {"type": "default"}, "rope_theta": 9}, 9),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 9, "partial_rotary_factor": 1.0}}, 9),
    ],
)
def test_both_spellings_of_rope_are_read(folder, edit, changes, theta):
    edit("config.json", **changes)
    assert read_config(folder).rope_theta == theta


def test_a_sliding_window_that_is_not_in_use_is_no_obstacle(folder, edit):
    edit("config.json", sliding_window=4096, use_sliding_window=False, layer_types=...)
    assert read_config(folder).num_hidden_layers == 3


CONFIG_REFUSALS = [
    ({"model_type": "qwen2"}, "model_type", "qwen2"),
    ({"model_type": ...}, "model_type", "None"),
    ({"hidden_act": "gelu"}, "hidden_act", "gelu"),
    ({"attention_bias": True}, "an attention bias is not supported", "True"),
    ({"attention_bias": 1}, "attention_bias: must be true or false", "1"),
    ({"use_sliding_window": True}, "sliding-window attention", "True"),
    ({"layer_types": ["full_attention", "sliding_attention", "full_attention"]}, "sliding-window", "sliding_attention"),
    ({"layer_types": "full_attention"}, "layer_types", "full_attention"),
    ({"quantization_config": {"quant_method": "fp8"}}, "quantised", "fp8"),
    ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, "scaled or partial RoPE", "yarn"),
    ({"rope_scaling": {"type": "linear", "factor": 2}}, "rope_scaling: scaled", "linear"),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "factor": 2}}, "scaled or partial", "factor"),
    ({"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}}, "partial RoPE", "0.5"),
    ({"rope_parameters": {"full_attention": {"rope_theta": 1e4}}}, "scaled or partial", "full_attention"),
    ({"rope_parameters": [1e4]}, "must be an object", "10000"),
    ({"rope_theta": 5e5}, "rope_theta and rope_parameters.rope_theta: must agree", "500000"),
    ({"rope_parameters": {"rope_theta": "big"}}, "finite number", "big"),
    ({"rope_parameters": {"rope_theta": -1}}, "finite number", "-1"),
    ({"rms_norm_eps": float("nan")}, "rms_norm_eps: must be a finite number", "nan"),
    ({"rms_norm_eps": ...}, "rms_norm_eps", "None"),
    ({"rms_norm_eps": True}, "rms_norm_eps", "True"),
    ({"hidden_size": ...}, "hidden_size: is required", "hidden_size"),
    ({"hidden_size": ..., "hiden_size": 32}, "nearest key there: hiden_size", "hidden_size"),
    ({"hidden_size": 0}, "hidden_size: must be an integer from 1 to 1000000", "0"),
    ({"hidden_size": 32.0}, "hidden_size: must be an integer", "32.0"),
    ({"hidden_size": True}, "hidden_size: must be an integer", "True"),
    ({"vocab_size": "96"}, "vocab_size: must be an integer", "96"),
    ({"intermediate_size": 10**12}, "intermediate_size: must be an integer from 1 to 1000000", "1000000000000"),
    ({"num_key_value_heads": 3}, "must divide num_attention_heads (4)", "3"),
    ({"head_dim": 7}, "head_dim: must be even", "7"),
    ({"tie_word_embeddings": "no"}, "tie_word_embeddings: must be true or false", "no"),
]


@pytest.mark.parametrize(("changes", "rule", "value"), CONFIG_REFUSALS)
def test_config_json_is_refused_with_file_rule_and_value(folder, edit, changes, rule, value):
    edit("config.json", **changes)
    with pytest.raises(InputError) as caught:
        read_config(folder)
    message = str(caught.value)
    assert str(folder / "config.json") in message and rule in message and value in message and "\nnext: " in message


LOOP_REFUSALS = [
    ({"loop_start": 3}, "0 <= loop_start < loop_end <= 3 layers", "[3, 3]"),
    ({"loop_end": 4}, "0 <= loop_start < loop_end <= 3 layers", "[0, 4]"),
    ({"loop_start": -1}, "loop_start: must be an integer from 0 to 1000000", "-1"),
    ({"loop_start": 2, "loop_end": 1}, "loop_start < loop_end", "[2, 1]"),
    ({"max_depth": 0}, "max_depth: must be an integer from 1 to 1000000", "0"),
    ({"max_depth": ...}, "max_depth: is required", "max_depth"),
    ({"mask_token_id": 96}, "mask_token_id: must lie in the vocabulary of 96", "96"),
    ({"mask_token_id": -3}, "mask_token_id", "-3"),
    ({"mask_token_id": None}, "mask_token_id", "None"),
]


@pytest.mark.parametrize(("changes", "rule", "value"), LOOP_REFUSALS)
def test_the_loop_configuration_is_refused_with_file_rule_and_value(folder, edit, changes, rule, value):
    edit("alodlm_config.json", **changes)
    with pytest.raises(InputError) as caught:
        read_config(folder)
    message = str(caught.value)
    assert str(folder / "alodlm_config.json") in message and rule in message and value in message


def test_training_keys_are_ignored(folder, edit):
    before = read_config(folder)
    edit("alodlm_config.json", depth_prior_c=0.4, kl_beta_mi=1, kl_beta_marg=1, gate_init_pi=0.25, block_size=32)
    assert read_config(folder) == before


@pytest.mark.parametrize("name", ["config.json", "alodlm_config.json"])
@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"[1, 2]", "must hold one JSON object"),
        (b"null", "must hold one JSON object"),
        (b"", "must be JSON"),
        (b'{"a": 1', "must be JSON"),
        (b"[" * 100_000, "must be JSON"),
        (b'\xff\xfe{"a": 1}', "must be UTF-8"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(folder, name, content, rule):
    (folder / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_config(folder)
    assert str(folder / name) in str(caught.value) and rule in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "alodlm_config.json"])
def test_a_folder_in_place_of_a_file_is_refused(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_config(folder)


@pytest.mark.parametrize(("name", "step"), [("config.json", "Qwen3"), ("alodlm_config.json", "--model-config")])
def test_a_missing_file_is_missing_with_a_next_step(folder, name, step):
    (folder / name).unlink()
    with pytest.raises(MissingError) as caught:
        read_config(folder)
    assert str(folder / name) in str(caught.value) and step in str(caught.value)


LOOP = {"loop_start": 0, "loop_end": 3, "max_depth": 4, "mask_token_id": 3}


def yaml_file(folder, text):
    path = folder.parent / "model.yaml"
    path.write_text(text)
    return path


def test_a_yaml_file_stands_in_for_the_loop_configuration(folder):
    with_own = read_config(folder)
    (folder / "alodlm_config.json").unlink()
    path = yaml_file(folder, json.dumps({"model": LOOP | {"name": "anything"}, "training": {"lr": 1}}))
    assert read_config(folder, path) == with_own


def test_a_yaml_file_may_agree_with_the_folder_but_not_contradict_it(folder):
    assert read_config(folder, yaml_file(folder, json.dumps({"model": LOOP}))).max_depth == 4
    with pytest.raises(InputError, match=r"max_depth: must agree with .*alodlm_config.json"):
        read_config(folder, yaml_file(folder, json.dumps({"model": LOOP | {"max_depth": 3}})))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("model: [1]", "model: must be a mapping"),
        ("loop_start: 0", "model: must be a mapping"),
        ("- 1", "model: must be a mapping"),
        ("", "model: must be a mapping"),
        ("model: {loop_start: 0", "must be YAML"),
        ("model: !!python/object:os.system {}", "must be YAML"),
        ("model: {loop_strat: 0, loop_end: 3, max_depth: 4, mask_token_id: 3}", "nearest key there: loop_strat"),
        ("model: {loop_start: 0, loop_end: 3, max_depth: 4.5, mask_token_id: 3}", "max_depth: must be an integer"),
        ("model: {loop_start: 0, loop_end: 9, max_depth: 4, mask_token_id: 3}", "loop_end <= 3"),
    ],
)
def test_a_bad_yaml_file_is_refused_by_name(folder, text, rule):
    (folder / "alodlm_config.json").unlink()
    path = yaml_file(folder, text)
    with pytest.raises(InputError) as caught:
        read_config(folder, path)
    assert str(path) in str(caught.value) and rule in str(caught.value)


def test_a_yaml_file_that_is_not_there_is_missing(folder):
    with pytest.raises(MissingError, match="nowhere"):
        read_config(folder, folder / "nowhere.yaml")
