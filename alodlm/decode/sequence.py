"""One sequence's way through the window loop: what it may be asked, what it has emitted, when it is finished.

Plain values without torch, so that every decoder shares them. A token is emitted one window after it commits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from alodlm.decode.settings import DEFAULT_BUDGET, DecodeSettings
from alodlm.decode.window import Commit, Window
from alodlm.errors import InputError
from alodlm.model.config import LoopedConfig
from alodlm.records import Generation


def token_budget(prompt_tokens: int, settings: DecodeSettings, config: LoopedConfig) -> int:
    """Return how many tokens a prompt may get: as set, else min(4096, what the context leaves)."""
    if settings.max_new_tokens is not None:
        return settings.max_new_tokens
    return min(DEFAULT_BUDGET, config.max_position_embeddings - prompt_tokens)


def prompt_problem(prompt_ids: Sequence[int], settings: DecodeSettings, config: LoopedConfig) -> str | None:
    """Say what keeps a prompt from being decoded, or None."""
    if not prompt_ids:
        return "the prompt is empty"
    for index, token in enumerate(prompt_ids):
        if not 0 <= token < config.vocab_size:
            return f"token {token} at index {index} is outside the vocabulary of {config.vocab_size}"
    context, budget = config.max_position_embeddings, token_budget(len(prompt_ids), settings, config)
    if budget < 1:
        return f"a prompt of {len(prompt_ids)} tokens leaves no room in the context of {context}"
    if len(prompt_ids) + budget > context:
        return f"a prompt of {len(prompt_ids)} tokens and a budget of {budget} exceed the context of {context}"
    return None


def checked_budget(prompt_ids: Sequence[int], settings: DecodeSettings, config: LoopedConfig) -> int:
    """Return the prompt's token budget, or raise an `InputError` that says why it cannot be decoded."""
    problem = prompt_problem(prompt_ids, settings, config)
    if problem is not None:
        raise InputError("prompt", problem, next_step="shorten the prompt or lower --max-new-tokens")
    return token_budget(len(prompt_ids), settings, config)


class SequenceState:
    """What has happened to one sequence; `window` is what runs next."""

    def __init__(self, settings: DecodeSettings, budget: int, stop_ids: Collection[int]) -> None:
        self.settings, self.budget, self.stop_ids = settings, budget, stop_ids
        self.window = Window()
        self.emitted: list[Commit] = []
        self.stop_reason: str | None = None
        self.windows = self.passes = self.row_passes = 0

    def next_window(self) -> Window | None:
        """Grow the window for its next run; or emit the last tokens, set `stop_reason` and return None."""
        lead = self.window.lead
        stop = next((index for index, commit in enumerate(lead) if commit.token in self.stop_ids), None)
        room = self.budget - len(self.emitted) - len(lead)
        if stop is not None or room <= 0:
            self.emitted += lead[:stop]
            self.stop_reason = "length" if stop is None else "eos"
            return None
        self.window = self.window.grown(len(lead) + min(self.settings.window_size, room))
        return self.window

    def advance(self, commits: Mapping[int, Commit], passes: int) -> None:
        """Take a finished window's commits by slot index; its lead slots, observed in it, are emitted."""
        lead = self.window.lead
        self.windows += 1
        self.passes += passes
        self.row_passes += passes * len(self.window.slots)
        self.emitted += lead
        self.window = self.window.filled(commits).dropped(len(lead))

    def generation(self, prompt_tokens: int, prefill_seconds: float, decode_seconds: float) -> Generation:
        """Return the record of a finished sequence; the text is left empty."""
        count = len(self.emitted)
        depths = [commit.depth for commit in self.emitted]
        return Generation(
            text="",
            generated_tokens=count,
            wall_seconds=prefill_seconds + decode_seconds,
            token_ids=[commit.token for commit in self.emitted],
            prompt_tokens=prompt_tokens,
            prefill_seconds=prefill_seconds,
            decode_seconds=decode_seconds,
            exit_depths=depths,
            first_pass_halt_probabilities=[commit.first_hazard for commit in self.emitted],
            mean_exit_depth=fmean(depths) if count else None,
            outer_steps=self.windows,
            recurrent_passes=self.passes,
            loop_token_passes=self.row_passes,
            loop_token_passes_per_output_token=self.row_passes / count if count else None,
            stop_reason=self.stop_reason,
        )
