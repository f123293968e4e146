"""The records that cross a stage: frozen, JSON-shaped, one screen.

Field rules live here beside the fields; reading files and wording the errors is `tasks.py` and `rundir.py`.
"""

from __future__ import annotations

import ast
import keyword
import math
import warnings
from typing import Any

from msgspec import Struct

CHOICE_METRICS = frozenset({"arc", "mmlu", "mmlu_pro", "gpqa"})
CODE_METRICS = frozenset({"python_tests", "evalplus"})
METRICS = (*sorted(CHOICE_METRICS), "math", "exact", "python_tests", "evalplus", "judge")
FAILURES = (
    "no_answer", "wrong", "timeout", "memory", "crashed", "compile_error", "scorer_timeout", "candidate_error",
)  # fmt: skip


_MOST_SECONDS = 86_400.0


class FieldError(ValueError):
    """A field of a record breaks a rule; the reader adds the file and the line."""

    def __init__(self, field: str, rule: str, value: object) -> None:
        super().__init__(f"{field}: {rule}")
        self.field, self.rule, self.value = field, rule, value


def _require(condition: bool, field: str, rule: str, value: object) -> None:
    if not condition:
        raise FieldError(field, rule, value)


class CodeSuite(Struct, frozen=True, omit_defaults=True):
    """One EvalPlus suite of `tests` inputs; each input is the list of a call's arguments.

    `inputs_literal` and `expected_literal` hold Python literals where JSON would lose tuples or sets: either one
    string that is a list literal, or a list with one literal string per test. `reference_seconds` are the
    trusted solution's times, in seconds.
    """

    reference_seconds: list[float]
    inputs: list[list[Any]] | None = None
    inputs_literal: str | list[str] | None = None
    expected: list[Any] | None = None
    expected_literal: str | list[str] | None = None

    def __post_init__(self) -> None:
        lengths = [self._length("inputs"), self._length("expected")]
        _require(
            lengths[0] == lengths[1] == len(self.reference_seconds) > 0,
            "suites",
            "inputs, expected and reference_seconds must be equally long, with at least one test",
            [*lengths, len(self.reference_seconds)],
        )
        for seconds in self.reference_seconds:
            usable = 0 <= seconds <= _MOST_SECONDS
            _require(usable, "reference_seconds", "must be finite and >= 0, and at most a day", seconds)

    def _length(self, name: str) -> int:
        plain, literal = getattr(self, name), getattr(self, f"{name}_literal")
        both = sorted(one for one in (name, f"{name}_literal") if getattr(self, one) is not None)
        _require(len(both) == 1, name, f"give either {name} or {name}_literal", both)
        if plain is not None:
            return len(plain)
        values = parse_literals(literal, f"{name}_literal")
        if name == "inputs":
            listed = all(isinstance(value, (list, tuple)) for value in values)
            _require(listed, "inputs_literal", "each input must be a list of arguments", literal)
        return len(values)

    def arguments(self) -> list[Any]:
        """Return the argument list of every test."""
        return self.inputs if self.inputs is not None else parse_literals(self.inputs_literal, "inputs_literal")

    def outputs(self) -> list[Any]:
        """Return the expected output of every test."""
        return self.expected if self.expected is not None else parse_literals(self.expected_literal, "expected_literal")


def parse_literals(literal: str | list[str] | None, field: str) -> list[Any]:
    """Parse a literal field of a suite with `ast.literal_eval`; a `FieldError` names what does not parse."""
    try:
        value = ast.literal_eval(literal) if isinstance(literal, str) else [ast.literal_eval(x) for x in literal or []]
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
        raise FieldError(field, f"must be a Python literal ({type(error).__name__})", literal) from None
    _require(isinstance(value, list), field, "must be a Python literal list", literal)
    return value


class CodeTests(Struct, frozen=True, omit_defaults=True):
    """What the `evalplus` metric runs: the function's name, its tolerance and its suites."""

    dataset: str
    entry_point: str
    suites: list[CodeSuite]
    atol: float = 0.0

    def __post_init__(self) -> None:
        _require(self.dataset in ("humaneval", "mbpp"), "dataset", "must be humaneval or mbpp", self.dataset)
        _require(self.entry_point.isidentifier(), "entry_point", "must be a Python identifier", self.entry_point)
        _require(math.isfinite(self.atol) and self.atol >= 0, "atol", "must be finite and >= 0", self.atol)
        _require(bool(self.suites), "suites", "must not be empty", self.suites)


class Task(Struct, frozen=True, omit_defaults=True):
    """One question with its reference. `id` is kept as written and compared as a string."""

    benchmark: str
    id: str | int | float
    metric: str
    prompt: str
    answer: str | int | float | None = None
    available_options: list[str | int] | None = None
    tests: str | None = None
    timeout_seconds: float = 10.0
    function_prefix: str = ""
    entry_point: str | None = None
    code_tests: CodeTests | None = None
    system_prompt: str | None = None
    instruction: str | None = None
    ground_truth_response: str | None = None
    retrieval_context: list[str] | None = None

    def __post_init__(self) -> None:
        _require(self.benchmark.strip() != "", "benchmark", "must not be empty", self.benchmark)
        _require(str(self.id).strip() != "", "id", "must not be empty", self.id)
        for name, text in (("benchmark", self.benchmark), ("id", str(self.id))):
            _require(text.isprintable(), name, "must not hold control characters or lone surrogates", text)
        finite = not isinstance(self.id, float) or math.isfinite(self.id)
        _require(finite, "id", "must be a string or a finite number", self.id)
        _require(self.metric in METRICS, "metric", f"must be one of {', '.join(METRICS)}", self.metric)
        _require(self.prompt != "", "prompt", "must not be empty", self.prompt)
        if self.metric in CHOICE_METRICS:
            self._check_options()
        elif self.metric in ("math", "exact"):
            _require(self.reference.strip() != "", "answer", f"is required for metric {self.metric}", self.answer)
        elif self.metric == "python_tests":
            self._check_tests()
        elif self.metric == "evalplus":
            _require(self.code_tests is not None, "code_tests", "is required for metric evalplus", self.code_tests)

    def _check_tests(self) -> None:
        _require(bool((self.tests or "").strip()), "tests", "is required for metric python_tests", self.tests)
        try:
            with warnings.catch_warnings(action="ignore"):
                ast.parse(self.tests)
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            rule = f"must be a Python program ({type(error).__name__}: {error})"
            raise FieldError("tests", rule, self.tests) from None
        usable = 0 < self.timeout_seconds <= _MOST_SECONDS
        _require(usable, "timeout_seconds", "must be finite and > 0, and at most a day", self.timeout_seconds)
        name = self.entry_point
        named = name is None or (name.isidentifier() and not keyword.iskeyword(name))
        _require(named, "entry_point", "must be a Python identifier", name)

    def _check_options(self) -> None:
        options = self.options
        _require(bool(options), "available_options", "must not be empty", options)
        _require(len(set(options)) == len(options), "available_options", "labels must differ", options)
        good = all(label.isdigit() or (label.isalpha() and len(label) == 1) for label in options)
        _require(good, "available_options", "labels are letters or digits", options)
        _require(self.answer is not None, "answer", f"is required for metric {self.metric}", self.answer)
        rule = f"must be one of available_options ({', '.join(options)})"
        _require(self.reference in options, "answer", rule, self.answer)

    @property
    def key(self) -> tuple[str, str]:
        """The pair that names a task in every file of a run."""
        return self.benchmark, str(self.id)

    @property
    def reference(self) -> str:
        """The reference answer as text; empty where the metric has none."""
        return "" if self.answer is None else str(self.answer)

    @property
    def options(self) -> tuple[str, ...]:
        """The labels shown: as given, else A–D (A–J for mmlu_pro)."""
        if self.available_options is not None:
            return tuple(str(label) for label in self.available_options)
        return tuple("ABCDEFGHIJ" if self.metric == "mmlu_pro" else "ABCD")


class Generation(Struct, frozen=True, omit_defaults=True):
    """One answer as it was generated. Times are seconds; a pass is one run of the core over a window's rows."""

    text: str
    generated_tokens: int
    wall_seconds: float
    token_ids: list[int] | None = None
    prompt_tokens: int | None = None
    prefill_seconds: float | None = None
    decode_seconds: float | None = None
    exit_depths: list[int] | None = None
    first_pass_halt_probabilities: list[float] | None = None
    mean_exit_depth: float | None = None
    outer_steps: int | None = None
    recurrent_passes: int | None = None
    loop_token_passes: int | None = None
    loop_token_passes_per_output_token: float | None = None
    stop_reason: str | None = None


class Score(Struct, frozen=True):
    """What a deterministic scorer found.

    `extracted` is what was compared (None when nothing was found), `failure` one of `FAILURES` or None when
    correct, `rule` the name of the extraction or execution rule that decided.
    """

    correct: bool
    extracted: str | None = None
    failure: str | None = None
    rule: str | None = None
