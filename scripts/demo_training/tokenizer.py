"""The demo's tokenizer: one token a byte (so a character of ASCII), the chat markers, and the demo's stock phrases.

Every text has a tokenisation, and decoding it gives the text back. The mask is a special token of its own. Stock
phrases are the wording that all items of a form share: as single tokens they make rows a third as many, and leave
to the model what differs between items. Numbers, made-up words and labels are spelled by character.
"""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

PAD, START, END, MASK = "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>"
ROLES = ("system", "user", "assistant")
PHRASES = (
    *("Compute ", ", ", ". Answer: "),
    *("Which is largest?", "Which is smallest?", " is largest", " is smallest"),
    *(" A) ", " B) ", " C) ", " D) ", " E) "),
    *("Which begins with ", "Which ends with ", "Which is ", " backwards?", " fits"),
    *("Write ", " in capitals.", " backwards.", "Double each letter of ", "Sort the letters of "),
    *("(x): ", " plus ", " minus ", " times ", ", times ", "the larger of ", "the smaller of ", " and "),
    *("the rest of x by ", ", at least ", ", at most ", " kept within "),
    *("def ", '(v):\n    """', '."""', "Sum of v", "Largest of v", "Smallest of v", "Length of v", "Add "),
    *(" to each of v", "Each of v", "Keep v above ", "Keep v below ", "How many of v equal ", ", plus ", ", minus "),
    *("```python\ndef ", "(x):\n    return ", "(v):\n    return ", "\n```"),
    *(" + ", " - ", " * ", " % ", " > ", " < ", "max(x, ", "min(x, ", "min(max(x, ", "), "),
    *("sum(v)", "max(v)", "min(v)", "len(v)", "v.count(", " for x in v]", " for x in v if x"),
)

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def build(context: int) -> PreTrainedTokenizerFast:
    """Return the tokenizer; `context` is the most positions that the model takes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={symbol: i for i, symbol in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in (PAD, START, END, MASK)])
    inner.add_tokens([AddedToken(role, normalized=False) for role in (*ROLES, *dict.fromkeys(PHRASES))])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=END,
        pad_token=PAD,
        mask_token=MASK,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def write(folder: Path, context: int) -> None:
    """Write `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja` into a folder."""
    build(context).save_pretrained(folder)
