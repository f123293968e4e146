"""Tokenizers: verbatim ids, end tokens from every source, chat templates, and refusals."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from alodlm.errors import InputError
from alodlm.model.config import read_config
from alodlm.model.tokenizer import load_tokenizer, stop_ids

CHARACTERS = Path(__file__).resolve().parent / "characters"


@pytest.fixture
def with_tokenizer(folder):
    """The checkpoint with a tokenizer of single characters: <|im_start|> is 1, <|im_end|> (its end token) 2."""
    return shutil.copytree(CHARACTERS, folder, dirs_exist_ok=True)


def load(folder):
    return load_tokenizer(folder, read_config(folder))


def test_text_is_encoded_verbatim_and_special_tokens_in_it_are_recognised(with_tokenizer):
    tokenizer = load(with_tokenizer)
    ids = tokenizer.encode("<|im_start|>a b\n<|im_end|>")
    assert ids == [1, 6, 5, 7, 4, 2]
    assert tokenizer.decode(ids) == "a b\n"
    assert tokenizer.encode("") == []


def test_nothing_is_added_even_where_the_tokenizer_would(with_tokenizer):
    file = with_tokenizer / "tokenizer.json"
    values = json.loads(file.read_text())
    piece = [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    values["post_processor"] = {
        "type": "TemplateProcessing", "single": piece, "pair": piece,
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
    }  # fmt: skip
    file.write_text(json.dumps(values))
    assert load(with_tokenizer).encode("a") == [6]


def test_ids_without_a_token_decode_to_nothing(folder):
    """Embeddings are often padded beyond the tokenizer's vocabulary."""
    shutil.copytree(CHARACTERS, folder, dirs_exist_ok=True)
    values = json.loads((folder / "tokenizer.json").read_text())
    values["model"]["vocab"] = {token: index for token, index in values["model"]["vocab"].items() if index < 90}
    (folder / "tokenizer.json").write_text(json.dumps(values))
    assert load(folder).decode([6, 95, 7]) == "ab"


def test_the_chat_template_formats_one_turn(with_tokenizer):
    tokenizer = load(with_tokenizer)
    assert tokenizer.chat("hi") == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    thinking = tokenizer.chat("hi", system="be brief", thinking=True)
    assert thinking.startswith("<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\n")
    assert thinking.endswith("assistant\n<think>\n")


def test_without_a_chat_template_raw_is_the_next_step(with_tokenizer):
    (with_tokenizer / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="no chat template\nnext: give --raw"):
        load(with_tokenizer).chat("hi")


@pytest.mark.parametrize("template", ["{% for %}", "{{ messages[9].content }}{{ nothing.at.all }}", "{{ 1 + 'a' }}"])
def test_a_chat_template_that_fails_is_refused(with_tokenizer, template):
    (with_tokenizer / "chat_template.jinja").write_text(template)
    with pytest.raises(InputError, match=r"its chat template fails[\s\S]*--raw"):
        load(with_tokenizer).chat("hi")


def test_a_lone_surrogate_is_refused(with_tokenizer):
    with pytest.raises(InputError, match="cannot be encoded as UTF-8"):
        load(with_tokenizer).encode("a\ud800")


@pytest.mark.parametrize(
    ("eos", "expected"),
    [(2, {2}), (None, {2}), ([7, 9], {2, 7, 9}), ([], {2}), (60, {2, 60}), (..., {2})],
)
def test_end_tokens_come_from_tokenizer_names_and_generation_config(with_tokenizer, edit, eos, expected):
    edit("generation_config.json", eos_token_id=eos)
    assert stop_ids(with_tokenizer, load(with_tokenizer)) == expected


def test_the_usual_end_tokens_count_when_the_vocabulary_holds_them(with_tokenizer, edit):
    file = with_tokenizer / "tokenizer.json"
    text = file.read_text()
    for name, token in (("<|endoftext|>", "a"), ("</s>", "b"), ("<|eot_id|>", "c")):
        text = text.replace(f'"{token}": ', f'"{name}": ')
    file.write_text(text)
    edit("tokenizer_config.json", eos_token="<|pad|>")
    (with_tokenizer / "generation_config.json").unlink()
    assert stop_ids(with_tokenizer, load(with_tokenizer)) == {0, 2, 6, 7, 8}


@pytest.mark.parametrize("eos", ["2", [2, "3"], True, {"id": 2}, 2.0])
def test_another_kind_of_end_token_is_refused(with_tokenizer, edit, eos):
    edit("generation_config.json", eos_token_id=eos)
    with pytest.raises(InputError, match=r"generation_config.json: eos_token_id: must be an id or a list"):
        stop_ids(with_tokenizer, None)


def test_a_folder_without_tokenizer_files_has_none(folder):
    assert load(folder) is None
    assert stop_ids(folder, None) == {2}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": "1.0"}', '{"model": {"type": "Nonsense"}}', "\x00\x01", '{"model": null}']
)
def test_a_tokenizer_that_cannot_be_read_is_refused(with_tokenizer, content):
    (with_tokenizer / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match="the tokenizer cannot be read") as caught:
        load(with_tokenizer)
    assert str(with_tokenizer) in str(caught.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"tokenizer_class": 3}'])
def test_a_tokenizer_configuration_that_cannot_be_read_is_refused(with_tokenizer, content):
    (with_tokenizer / "tokenizer_config.json").write_text(content)
    with pytest.raises(InputError, match="the tokenizer cannot be read"):
        load(with_tokenizer)


def test_code_in_a_checkpoint_is_never_run(with_tokenizer, edit):
    trace = with_tokenizer / "this ran"
    (with_tokenizer / "evil.py").write_text(f"open({str(trace)!r}, 'w').close()\nclass Evil: ...")
    edit("tokenizer_config.json", tokenizer_class="Evil", auto_map={"AutoTokenizer": ["evil.Evil", None]})
    with suppress(InputError):
        load(with_tokenizer)
    assert not trace.exists()


def test_a_vocabulary_beyond_the_embedding_is_refused(with_tokenizer):
    file = with_tokenizer / "tokenizer.json"
    values = json.loads(file.read_text())
    values["model"]["vocab"]["é"] = 96
    file.write_text(json.dumps(values))
    with pytest.raises(InputError, match="embedding's vocabulary of 96; got 96"):
        load(with_tokenizer)
