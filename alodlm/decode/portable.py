"""The portable decoder: the plain path that defines right, on the CPU or CUDA, through PyTorch's own attention.

Promises the tokens of the window loop for one sequence at a time, with clocks over prefill and decoding only. Refuses,
before any work, an empty prompt, a token outside the vocabulary, and a prompt and budget that exceed the context.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from alodlm.decode import policy
from alodlm.decode.cache import KeyValueCache
from alodlm.decode.sequence import SequenceState, checked_budget
from alodlm.decode.settings import DecodeSettings
from alodlm.decode.window import Commit, Window
from alodlm.errors import StageError
from alodlm.model.layers import RotaryTable, Rows, window_mask
from alodlm.model.looped import LoopedModel
from alodlm.records import Generation

_PREFILL_ROWS = 512


class PortableDecoder:
    """Decodes prompts of token ids with a loaded model.

    `device` is where token ids enter (the model may spread further), `stop_ids` the tokens that end a sequence. The
    caches are allocated for the longest sequence so far and used again.
    """

    def __init__(self, model: LoopedModel, device: torch.device, stop_ids: Collection[int]) -> None:
        self.model, self.config, self.device = model, model.config, device
        self.stop_ids = frozenset(stop_ids)
        self.dtype = model.lm_head.weight.dtype
        self._layer_devices = model.layer_devices or [device] * self.config.num_hidden_layers
        self._cache: KeyValueCache | None = None
        self.reserve(1)

    def reserve(self, tokens: int) -> None:
        """Allocate caches for sequences (prompt and budget) of up to `tokens`, if they are not there yet."""
        if self._cache is not None and self._cache.capacity >= tokens:
            return
        self._cache = None  # the old one goes before the new one comes
        try:
            cache = KeyValueCache(self.config, tokens, self.dtype, self._layer_devices)
            self._rotary = RotaryTable.build(self.config, tokens, device=self.device, dtype=self.dtype)
        except RuntimeError as error:  # what PyTorch raises when an allocation fails, on every device
            raise _out_of_memory(f"caches for {tokens} tokens") from error
        self._cache = cache

    def generate(self, prompt_ids: Sequence[int], settings: DecodeSettings) -> Generation:
        """Decode one prompt; `text` is left empty. Times are seconds, with CUDA idle at every clock read."""
        budget = checked_budget(prompt_ids, settings, self.config)
        self.reserve(len(prompt_ids) + budget)
        try:
            return self._decode(prompt_ids, SequenceState(settings, budget, self.stop_ids))
        except torch.OutOfMemoryError as error:
            raise _out_of_memory(f"decoding a prompt of {len(prompt_ids)} tokens") from error

    @torch.inference_mode()
    def _decode(self, prompt_ids: Sequence[int], sequence: SequenceState) -> Generation:
        started = self._clock()
        self._prefill(torch.tensor([prompt_ids], device=self.device))
        prefilled = self._clock()
        while (window := sequence.next_window()) is not None:
            commits, passes = self._run_window(window, sequence.settings)
            self._cache.keep(len(window.lead), passes)
            sequence.advance(commits, passes)
        ended = self._clock()
        return sequence.generation(len(prompt_ids), prefilled - started, ended - prefilled)

    def _clock(self) -> float:
        for device in {self.device, *self._layer_devices}:
            if device.type == "cuda":
                torch.cuda.synchronize(device)
        return time.perf_counter()

    def _rows(self, positions: Tensor) -> Rows:
        mask = window_mask(positions.shape[1], self._cache.length, self.config, device=self.device, dtype=self.dtype)
        return self._rotary.rows(positions, mask)

    def _prefill(self, prompt: Tensor) -> None:
        """Run every depth over the prompt `[1, tokens]`, a block of rows at a time, and keep every row."""
        self._cache.clear()
        depths = self.config.max_depth
        for block in prompt.split(_PREFILL_ROWS, dim=1):
            start = self._cache.length
            rows = self._rows(torch.arange(start, start + block.shape[1], device=self.device)[None])
            hidden = self.model.prelude(self.model.embed(block), rows, self._cache.at(0))
            for depth in range(depths):
                carry = hidden if depth == 0 else self.model.final_norm(hidden)
                hidden = self.model.core(carry, rows, self._cache.at(depth))
            # The coda's keys are those of the last pass, and nothing is read out of a prompt.
            self.model.coda(hidden, rows, self._cache.at(depths - 1))
            self._cache.keep(block.shape[1], depths)

    def _run_window(self, window: Window, settings: DecodeSettings) -> tuple[dict[int, Commit], int]:
        """Run passes until the window stops; return what committed by slot index, and the number of passes."""
        order, observed = window.order()
        tokens = [commit.token if (commit := window.slots[i]) else self.config.mask_token_id for i in order]
        positions = [self._cache.length + index for index in order]
        ids, places = torch.tensor([[tokens], [positions]], device=self.device)
        rows = self._rows(places)
        masked = torch.ones_like(places[:, observed:], dtype=torch.bool)
        state = policy.start_window(masked, places[:, observed:])
        hidden = self.model.prelude(self.model.embed(ids), rows, self._cache.at(0))
        for depth in range(self.config.max_depth):
            hidden = self.model.core(hidden, rows, self._cache.at(depth))
            state, now = self._decide(hidden, rows, state, depth, settings)
            running, *report = _read(state)
            if not running:
                break
            hidden = self._carry(hidden, observed, state, now)
        slots = order[observed:]
        commits = {slot: Commit(int(t), int(d), h) for slot, t, d, h in zip(slots, *report, strict=True) if d}
        return commits, depth + 1

    def _decide(
        self, hidden: Tensor, rows: Rows, state: policy.WindowState, depth: int, settings: DecodeSettings
    ) -> tuple[policy.WindowState, Tensor]:
        """Read the carry out through the coda and apply the policy to the masked rows."""
        branch = self.model.coda(hidden, rows, self._cache.at(depth))
        features = self.model.final_norm(branch[:, -state.masked.shape[1] :])
        statistics = policy.commit_statistics(self.model.logits(features))
        hazards = self.model.exit_gate(features, depth).sigmoid()
        last = depth + 1 == self.config.max_depth
        return policy.step(state, statistics, hazards, depth, settings, last=last)

    def _carry(self, hidden: Tensor, observed: int, state: policy.WindowState, now: Tensor) -> Tensor:
        """Normalise the carry, then put the raw embedding of a token into each row that committed just now."""
        carry = self.model.final_norm(hidden)
        masked = carry[:, observed:]
        embedded = self.model.embed(state.tokens.clamp_min(0)).to(carry.device)
        masked.copy_(torch.where(now.unsqueeze(-1), embedded, masked))
        return carry


def _out_of_memory(what: str) -> StageError:
    return StageError(what, "memory ran out", next_step="lower --max-new-tokens, or use --precision bf16")


def _read(state: policy.WindowState) -> tuple[bool, list[float], list[float], list[float]]:
    """Bring one sequence's decisions to the host in one transfer; float64 holds tokens and hazards exactly."""
    columns = (state.tokens.double(), state.depths.double(), state.first_hazards.double())
    flag = state.running.double().unsqueeze(-1).expand_as(columns[0])
    tokens, depths, hazards, running = torch.cat((*columns, flag)).tolist()
    return bool(running[0]), tokens, depths, hazards
