"""A checkpoint on this machine, decoded by the portable decoder.

`load_decoder` is the way in from Python, `LocalCandidate` the one for a run. PyTorch and its companions are imported
when they are first needed; where they are missing the message says what to install.
"""

from __future__ import annotations

import importlib.util
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from alodlm.decode.sequence import checked_budget, prompt_problem, token_budget
from alodlm.decode.settings import DecodeSettings
from alodlm.errors import InputError, MissingError, problem_list
from alodlm.model.hub import resolve_model
from alodlm.records import Generation, Task

if TYPE_CHECKING:
    import torch

    from alodlm.decode.portable import PortableDecoder
    from alodlm.model.checkpoint import Checkpoint
    from alodlm.model.tokenizer import Tokenizer

ENGINE = "pytorch-sdpa-reference"
TIMING = "prefill and decoding; not loading, warm-up, tokenisation or scoring"
_PACKAGES = ("torch", "transformers", "safetensors", "accelerate", "huggingface_hub")
_WARM_UP_PROMPT_TOKENS = 32
_CORRECT_PROMPTS = "correct or shorten these prompts; --max-new-tokens lowers a budget that does not fit"


def require_packages() -> None:
    """Raise a `MissingError` that says what to install unless the packages for a local model are all there."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        rule = "is needed to run a local checkpoint" if len(missing) == 1 else "are needed to run a local checkpoint"
        raise MissingError(", ".join(missing), rule, next_step="pip install 'alodlm-eval[local]'")


def load_decoder(
    model: str | Path,
    *,
    device: str = "auto",
    precision: str | None = None,
    model_config: str | Path | None = None,
    device_map: str | Mapping[str, Any] | None = None,
) -> LocalDecoder:
    """Load a checkpoint for decoding.

    `model` is a checkpoint folder or a Hugging Face model ID. `device` is cpu, cuda, cuda:N or auto (CUDA where there
    is one); `precision` fp32 or bf16 (default: bf16 on CUDA, fp32 on the CPU). `model_config` is a YAML file with the
    loop keys for a checkpoint without its own. `device_map` spreads the weights with accelerate: "auto", or a device
    (cpu, disk, cuda:N) for each block, such as `{"": "cpu", "model.layers.5": "disk"}`.
    Raises `InputError` for a checkpoint or argument that breaks a rule, `MissingError` for something not there.
    """
    decoder = LocalDecoder(model, device=device, precision=precision, model_config=model_config, device_map=device_map)
    decoder.load()
    return decoder


class LocalDecoder:
    """A checkpoint's tokenizer and, once loaded, its portable decoder.

    Opening checks the whole folder and reads the tokenizer; `load` reads the weights.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        device: str = "auto",
        precision: str | None = None,
        model_config: str | Path | None = None,
        device_map: str | Mapping[str, Any] | None = None,
    ) -> None:
        require_packages()
        from alodlm.model.checkpoint import open_checkpoint
        from alodlm.model.device import resolve_device, resolve_precision
        from alodlm.model.tokenizer import load_tokenizer, stop_ids

        self.device: torch.device = resolve_device(device)
        self.precision = resolve_precision(precision, self.device)
        folder = resolve_model(model)
        config_file = Path(model_config) if model_config is not None else None
        self.checkpoint: Checkpoint = open_checkpoint(folder, config_file)
        self.tokenizer: Tokenizer | None = load_tokenizer(folder, self.checkpoint.config)
        self.stop_ids = stop_ids(folder, self.tokenizer)
        if (mask := self.checkpoint.config.mask_token_id) in self.stop_ids:
            rule = "must not be a token that ends a sequence"
            raise InputError(f"{folder}: mask_token_id", rule, value=mask, next_step="correct alodlm_config.json")
        self._device_map = device_map
        self._decoder: PortableDecoder | None = None

    def load(self) -> None:
        """Read the weights, unless they have been."""
        from alodlm.decode.portable import PortableDecoder
        from alodlm.model.device import PRECISIONS

        if self._decoder is None:
            model = self.checkpoint.load(self.device, PRECISIONS[self.precision], self._device_map)
            self._decoder = PortableDecoder(model, self.device, self.stop_ids)

    def generate(self, prompt: str | Sequence[int], settings: DecodeSettings | None = None) -> Generation:
        """Decode a prompt and return its `Generation`, times in seconds.

        `prompt` is text, encoded as it stands with no special tokens added, or token ids. The clocks cover prefill
        and decoding, not tokenisation. The text is empty for a checkpoint without tokenizer files.
        Raises `InputError` for an empty prompt, an id outside the vocabulary, or a prompt and budget beyond the
        context.
        """
        self.load()
        ids = self.encode(prompt) if isinstance(prompt, str) else [operator.index(token) for token in prompt]
        generation = self._decoder.generate(ids, settings or DecodeSettings())
        if self.tokenizer is None:
            return generation
        return msgspec.structs.replace(generation, text=self.tokenizer.decode(generation.token_ids))

    def check(self, prompt: str, settings: DecodeSettings) -> None:
        """Raise the `InputError` that `generate` would, without weights."""
        checked_budget(self.encode(prompt), settings, self.checkpoint.config)

    def warm_up(self, settings: DecodeSettings, tokens: int = 0) -> None:
        """Allocate caches for sequences of up to `tokens` and decode a little, so that no first clock pays for it."""
        self.load()
        self._decoder.reserve(tokens)
        context = self.checkpoint.config.max_position_embeddings
        prompt = [0] * min(_WARM_UP_PROMPT_TOKENS, context - 1)
        budget = min(2 * settings.window_size, context - len(prompt))
        self._decoder.generate(prompt, msgspec.structs.replace(settings, max_new_tokens=budget))

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`; a `MissingError` where the checkpoint has no tokenizer."""
        return self._tokenizer().encode(text)

    def chat(self, prompt: str, *, system: str | None = None, thinking: bool = False) -> str:
        """Return `prompt` as one user turn of the checkpoint's chat template."""
        return self._tokenizer().chat(prompt, system=system, thinking=thinking)

    def _tokenizer(self) -> Tokenizer:
        if self.tokenizer is None:
            step = "add the tokenizer files that belong to the weights"
            raise MissingError(str(self.checkpoint.folder), "has no tokenizer.json", next_step=step)
        return self.tokenizer


class LocalCandidate:
    """Answers tasks with a checkpoint; see `alodlm.candidates.protocol` for the order of calls."""

    def __init__(self, model: str | Path, settings: DecodeSettings | None = None, **placement: Any) -> None:
        """`placement` takes `device`, `precision`, `model_config` and `device_map` as `load_decoder` does."""
        self.settings = settings or DecodeSettings()
        self.decoder = LocalDecoder(model, **placement)
        self._longest = 0

    def describe(self) -> dict[str, Any]:
        """Return the model's identity and the protocol of the run."""
        import torch

        on_cuda = self.decoder.device.type == "cuda"
        decode = msgspec.to_builtins(self.settings) | {"position_penalty": self.settings.penalty}
        protocol = {
            "engine": ENGINE,
            "decode": decode,
            "precision": self.decoder.precision,
            "device": self.decoder.device.type,
            "gpu": torch.cuda.get_device_name(self.decoder.device) if on_cuda else None,
            "threads": torch.get_num_threads(),
            "timing": TIMING,
        }
        return {"identity": self.decoder.checkpoint.identity(), "protocol": protocol}

    def check(self, tasks: Iterable[Task]) -> None:
        """Encode every prompt; raise one `InputError` that lists all that cannot be decoded."""
        config = self.decoder.checkpoint.config
        problems = []
        for task in tasks:
            ids, problem = self._encoded(task)
            problem = problem or prompt_problem(ids, self.settings, config)
            if problem is not None:
                problems.append(f"{task.benchmark}/{task.id}: {problem}")
            else:
                self._longest = max(self._longest, len(ids) + token_budget(len(ids), self.settings, config))
        if problems:
            raise problem_list(
                "prompts",
                problems,
                next_step=_CORRECT_PROMPTS,
            )

    def _encoded(self, task: Task) -> tuple[list[int], str | None]:
        try:
            return self.decoder.encode(task.prompt), None
        except InputError as error:
            return [], error.rule

    def load(self) -> None:
        """Read the weights."""
        self.decoder.load()

    def warm_up(self) -> None:
        """Allocate for the longest prompt that `check` saw, and decode a little."""
        self.decoder.warm_up(self.settings, self._longest)

    def generate(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Generation]]:
        """Yield each task with its generation, in order."""
        for task in tasks:
            yield task, self.decoder.generate(task.prompt, self.settings)
