"""A checkpoint's tokenizer: text to ids and back, the chat template, and the tokens that end a sequence.

Prompts are encoded verbatim, with no special token added. Nothing is downloaded, and no code of a checkpoint is run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alodlm.errors import InputError
from alodlm.model.config import LoopedConfig, read_json_object

GENERATION_CONFIG = "generation_config.json"
END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>")
_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json")
_ADVICE = "use the tokenizer files that belong to the weights"


class Tokenizer:
    """Wraps the tokenizer of transformers."""

    def __init__(self, backend: Any, folder: Path) -> None:
        self._backend, self._folder = backend, folder

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text` as it stands; special tokens written in it are recognised, none is added."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            rule = f"cannot be encoded as UTF-8 ({error.reason})"
            raise InputError("text", rule, value=text, next_step="remove the lone surrogate") from None
        return self._backend.encode(text, add_special_tokens=False)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens left out."""
        return self._backend.decode(token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def chat(self, prompt: str, *, system: str | None = None, thinking: bool = False) -> str:
        """Return one user turn formatted by the checkpoint's chat template, ready for the answer."""
        from jinja2 import TemplateError

        if not self._backend.chat_template:
            step = "give --raw to use the prompt as it stands"
            raise InputError(f"{self._folder}", "its tokenizer has no chat template", next_step=step)
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": prompt})
        try:
            return self._backend.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
            )
        except (TemplateError, TypeError, ValueError) as error:
            rule = f"its chat template fails ({error})"
            raise InputError(f"{self._folder}", rule, next_step="give --raw to use the prompt as it stands") from None

    def end_ids(self) -> set[int]:
        """Return the tokenizer's end token and the usual end tokens that its vocabulary holds."""
        vocabulary = self._backend.get_vocab()
        named = {vocabulary[token] for token in END_TOKENS if token in vocabulary}
        own = self._backend.eos_token_id
        return named if own is None else named | {own}


def load_tokenizer(folder: Path, config: LoopedConfig) -> Tokenizer | None:
    """Load the folder's tokenizer, or return None where it has no tokenizer files.

    Refuses a tokenizer that cannot be read, or whose ids reach beyond the embedding.
    """
    if not any((folder / name).exists() for name in _FILES):
        return None
    from transformers import AutoTokenizer

    try:
        backend = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        # tokenizers raises Exception itself for a file it cannot parse; anything narrower is listed.
        known = (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, json.JSONDecodeError)
        if type(error) is not Exception and not isinstance(error, known):
            raise
        rule = f"the tokenizer cannot be read ({type(error).__name__}: {str(error).splitlines()[0]})"
        raise InputError(str(folder), rule, next_step=_ADVICE) from None
    highest = max(backend.get_vocab().values(), default=0)
    if highest >= config.vocab_size:
        rule = f"the tokenizer's ids must lie in the embedding's vocabulary of {config.vocab_size}"
        raise InputError(str(folder), rule, value=highest, next_step=_ADVICE)
    # Prompts are checked against the context by the decoder; the tokenizer's own warning would come before its error.
    backend.model_max_length = sys.maxsize
    return Tokenizer(backend, folder)


def stop_ids(folder: Path, tokenizer: Tokenizer | None) -> frozenset[int]:
    """Return the ids that end a sequence: the tokenizer's, the usual names', and `generation_config.json`'s."""
    ids = tokenizer.end_ids() if tokenizer is not None else set()
    file = folder / GENERATION_CONFIG
    if file.exists():
        advice = f"fix or remove {GENERATION_CONFIG}"
        given = read_json_object(file, advice).get("eos_token_id")
        listed = given if isinstance(given, list) else [] if given is None else [given]
        if not all(isinstance(token, int) and not isinstance(token, bool) for token in listed):
            rule = "must be an id or a list of ids"
            raise InputError(f"{file}: eos_token_id", rule, value=given, next_step=advice)
        ids.update(listed)
    return frozenset(ids)
