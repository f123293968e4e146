"""Multiple choice: one row a kind of answer, and the near-misses that must not count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alodlm.records import Task
from alodlm.score import score_answer
from alodlm.score.choice import score

FOUR, TEN, DIGITS = "ABCD", "ABCDEFGHIJ", "1234"
SHARED = [json.loads(line) for line in Path(__file__).with_name("cases_mcq.jsonl").read_text("utf-8").splitlines()]


def task(options: str = FOUR, *, prompt: str = "Which one?", answer: str | None = None, metric: str = "mmlu") -> Task:
    return Task("bench", 1, metric, prompt, answer or options[0], list(options))


def chosen(text: str, options: str = FOUR, prompt: str = "Which one?") -> str | None:
    return score(task(options, prompt=prompt), text).extracted


@pytest.mark.parametrize("case", SHARED, ids=[case["id"] for case in SHARED])
def test_the_shared_cases_have_their_verdict(case: dict) -> None:
    options = case["available_options"]
    answer = case["answer"] if case["answer"] in options else options[0]  # a task with an answer not shown is refused
    found = score_answer(Task("bench", case["id"], case["metric"], "Which one?", answer, options), case["text"])
    assert (found.correct, found.extracted) == (case["correct"], case["extracted"] or None)


CUES = [
    ("Answer: B", "B"),
    ("answer : b", "B"),
    ("ANSWER: C", "C"),
    ("Answer - D", "D"),
    ("Answer = C", "C"),
    ("Answer B", "B"),
    ("Ans. C", "C"),
    ("Ans: (c)", "C"),
    ("Final answer: D", "D"),
    ("Final Answer (B)", "B"),
    ("My final answer is C.", "C"),
    ("The answer is (A).", "A"),
    ("The answer is A.", "A"),
    ("The answer is A", "A"),
    ("the answer is b", "B"),
    ("the answer is a.", "A"),
    ("The answer is a because oil floats.", "A"),
    ("So the answer is B!", "B"),
    ("The answer is: C", "C"),
    ("The answer is option C.", "C"),
    ("The answer is, therefore, C.", "C"),
    ("The answer is most likely B.", "B"),
    ("The answer is I think B.", "B"),
    ("The answer is clearly B", "B"),
    ("The answer must be D.", "D"),
    ("The answer would be (D).", "D"),
    ("The answer should be C, given the slope.", "C"),
    ("The correct answer is C", "C"),
    ("Correct answer: C) Osmosis", "C"),
    ("Correct: B", "B"),
    ("Correct option: B.", "B"),
    ("The best choice is D.", "D"),
    ("The most appropriate response is B.", "B"),
    ("The closest option is (B) 250 kelvin.", "B"),
    ("The answer to this question is D.", "D"),
    ("The option that best describes this is (C).", "C"),
    ("The strongest argument is (D).", "D"),
    ("Hence 235 is nearest, which corresponds to option (C).", "C"),
    ("This matches option B.", "B"),
    ("I choose C", "C"),
    ("I choose answer C.", "C"),
    ("I'd go with (A).", "A"),
    ("I am going with option B here", "B"),
    ("Let me pick D because it floats.", "D"),
    ("My guess is C.", "C"),
    ("I think B.", "B"),
    ("I believe it is D.", "D"),
    ("It's C.", "C"),
    ("It must be B.", "B"),
    ("Therefore, C.", "C"),
    ("Thus (D).", "D"),
    ("A is wrong, so C.", "C"),
    ("Not A. Not B. D.", "D"),
    ('{"answer": "C"}', "C"),
    ("{'reason': 'A car moves', 'answer': 'D'}", "D"),
    ("<answer>B</answer>", "B"),
    ("<answer>\nB\n</answer>", "B"),
    ("Answer: [C]", "C"),
    ("Answer: <C>", "C"),
    ("Answer: $C$", "C"),
    ("Answer: \\(\\textbf{C}\\)", "C"),
    ("Answer: 'D'", "D"),
    ("Answer: “D”", "D"),
    ("Answer: `B`", "B"),
    ("Answer: ***B***", "B"),
    ("**Answer: (B)**", "B"),
    ("**Answer**: B", "B"),
    ("### Answer\nC", "C"),
    ("### Final Answer:\n\n**C. Diffusion**", "C"),
    ("Answer: Ｃ", "C"),
    ("Answer: 👉 B", "B"),
    ("| Answer | B |", "B"),
    ("Answer: B - Osmosis", "B"),
    ("Answer: B. Osmosis", "B"),
    ("Answer: B: osmosis", "B"),
    ("Answer: A. A car moves.", "A"),
    ("Answer: D (not A)", "D"),
    ("Answer: D, not A.", "D"),
    ("The answer is B rather than C.", "B"),
    ("The answer is B, and C is wrong.", "B"),
    ("There is no doubt that the answer is B.", "B"),
    ("Since it does not move the answer is B.", "B"),
    ("<b>Answer:</b> B<br>", "B"),
    ("Answer:\u00a0B", "B"),
    ("The answer is ~~A~~ B.", "B"),
]

LABEL_FIRST = [
    ("B is correct.", "B"),
    ("Option B is correct.", "B"),
    ("(C) is the right answer.", "C"),
    ("B is the best answer because it floats.", "B"),
    ("So D is the only correct choice.", "D"),
    ("Therefore B must be the answer.", "B"),
    ("A is wrong. B is wrong. C is correct. D is wrong.", "C"),
    ("A) Incorrect: too small.\nB) Correct: it floats.\nC) Incorrect: heavy.\nD) Incorrect: red.", "B"),
    ("A: ❌\nB: ❌\nC: ✅\nD: ❌", "C"),
    ("D best describes the process.", "D"),
    ("The answer is A. No, that is wrong. B is correct.", "B"),
    ("The answer is D because A is correct and B is correct.", "D"),
    ("The answer is D. A is correct. B is correct. C is correct.", "D"),
    ("The answer is D, since both A and B are correct.", "D"),
    ("A and B are correct.", None),
    ("Is B correct?", None),
    ("Is B correct? The answer is C.", "C"),
    ("A is incorrect.", None),
    ("If B is correct, the sky is green.", None),
    ("B is not correct.", None),
    ("Some people think that B is correct.", None),
]

PLACES = [
    ("B", "B"),
    (" B\n", "B"),
    ("B.", "B"),
    ("B)", "B"),
    ("(B)", "B"),
    ("[B]", "B"),
    ("{B}", "B"),
    ("【B】", "B"),
    ("**B**", "B"),
    ("*B*", "B"),
    ("__B__", "B"),
    ("`B`", "B"),
    ("```\nB\n```", "B"),
    ('"B"', "B"),
    ("- B", "B"),
    ("> B", "B"),
    ("✅ B", "B"),
    ("b", "B"),
    ("b.", "B"),
    ("A", "A"),
    ("Option B", "B"),
    ("(B) because oil floats", "B"),
    ("B because oil floats", "B"),
    ("B, because oil floats", "B"),
    ("B. Oil floats.", "B"),
    ("B) Oil floats", "B"),
    ("B: Oil floats", "B"),
    ("B - Oil floats", "B"),
    ("B\n\nOil floats on a layer of water.", "B"),
    ("A. Oil floats.", "A"),
    ("A\nA car moves.", "A"),
    ("(b) oil", "B"),
    ("b) oil", "B"),
    ("Oil floats.\n\n**B**", "B"),
    ("Oil floats.\n\n(B)", "B"),
    ("Oil floats.\n\nB) Osmosis", "B"),
    ("Oil floats.\nB.\nThat is all.", "B"),
    ("B. Oil floats. Wait, the answer is C.", "C"),
    ("A\nB\nC\nD", None),
    ("A. red B. blue C. green D. grey", None),
    ("(A) red\n(B) blue\n(C) green\n(D) grey", None),
    ("A) red\nB) blue", None),
    ("Answer:\nA) red\nB) blue\nC) green\nD) grey", None),
    ("Options:\nA. red\nB. blue\nC. green\nD. grey\n\nThe grass is green.\n\nC. green", "C"),
    ("A is for apple", None),
    ("A, B and C all fail.", None),
    ("B cells make antibodies.", None),
    ("C. elegans is a worm.", None),
    ("E. coli lives there.", None),
    ("B. F. Skinner wrote it.", None),
    ("I, too, wonder.", None),
    ("I think so.", None),
    ("I'm unsure.", None),
    ("i", None),
    ("C++", None),
    ("C#", None),
]

BOXES = [
    ("\\boxed{C}", "C"),
    ("$\\boxed{C}$", "C"),
    ("$$\\boxed{\\textbf{(C)}}$$", "C"),
    ("\\boxed{(C)}", "C"),
    ("\\boxed{C.}", "C"),
    ("\\boxed{ C }", "C"),
    ("\\boxed{c}", "C"),
    ("\\boxed{\\mathrm{C}}", "C"),
    ("\\fbox{C}", "C"),
    ("\\boxed C", "C"),
    ("\\boxed{\\text{Option C}}", "C"),
    ("\\boxed{\\text{C) Osmosis}}", "C"),
    ("\\boxed{\\text{The answer is C}}", "C"),
    ("First \\boxed{A}. Corrected: \\boxed{B}", "B"),
    ("\\boxed{B}\n\nThis is because A fails.", "B"),
    ("The answer is B. \\boxed{}", "B"),
    ("The answer is B, since \\boxed{42}.", "B"),
    ("\\boxed{A = \\pi r^2}", None),
    ("\\boxed{A + B}", None),
    ("\\boxed{A^c}", None),
    ("\\boxed{C_2}", None),
    ("\\boxed{B(x)}", None),
    ("\\boxed{A, B}", None),
    ("\\boxed{A \\text{ and } B}", None),
    ("\\boxed{A} and \\boxed{B}", None),
    ("\\boxed{}", None),
    ("\\boxed{DNA}", None),
]

NEAR_MISSES = [
    ("Answer: A car moves.", None),
    ("Answer: I don't know.", None),
    ("Answer: I am not sure", None),
    ("The answer is a matter of debate.", None),
    ("The answer is A Tale of Two Cities.", None),
    ("Answer: None", None),
    ("Answer: All of the above", None),
    ("Answer: Cannot be determined", None),
    ("Answer: DNA", None),
    ("Answer: AC", None),
    ("Answer: B-cells", None),
    ("Answer: B cells", None),
    ("Answer: Vitamin C", None),
    ("Answer: A+", None),
    ("Answer: C++", None),
    ("Answer: A.M.", None),
    ("Answer: D.C.", None),
    ("Answer: U.S.A", None),
    ("Answer: CO2", None),
    ("Answer: C2H5OH", None),
    ("Answer: A = 4", None),
    ("Answer: B'", None),
    ("Answer: 25 °C", None),
    ("Answer: Plan B", None),
    ("Answer: E", None),
    ("Answer: (E)", None),
    ("The point is B.", None),
    ("Vitamin C helps.", None),
    ("The line from A to B is short.", None),
    ("f(A) = 3 and P(B) = 2", None),
    ("Option B mentions cells.", None),
    ("Let us consider option C.", None),
    ("Options (A) and (B) are about cells.", None),
    ("Choose from A, B, C, D.", None),
    ("A common mistake is to choose B.", None),
    ("Many students think the answer is B.", None),
    ("You might pick B.", None),
    ("If the answer is B, then the sky is green.", None),
    ("Suppose the answer is B.", None),
    ("Is the answer B?", None),
    ("The answer is not B.", None),
    ("The answer isn't B.", None),
    ("The answer can't be B.", None),
    ("The answer cannot be (B).", None),
    ("I don't think the answer is B.", None),
    ("I doubt that the answer is B.", None),
    ("I would not choose B.", None),
    ("Never pick A.", None),
    ("not B", None),
    ("Not (B)", None),
    ("It is not B.", None),
    ("**not B**", None),
    ("The wrong answer is B.", None),
    ("The answer is B is wrong.", None),
    ("Answer: B is incorrect.", None),
    ("We can rule out (B).", None),
    ("Answer: neither A nor B", None),
    ("The answer is C. The wrong answer is A.", "C"),
    ("The answer is B. It is not A.", "B"),
    ("The answer is B. Option C mentions cells.", "B"),
    ("The answer is B. A tempting error is to pick A.", "B"),
]

SEVERAL = [
    ("The answer is A. The answer is C.", "C"),
    ("Answer: A\nWait, I misread.\nAnswer: C", "C"),
    ("The answer is A... wait, actually B.", "B"),
    ("The answer is A. Actually, B.", "B"),
    ("Answer: B\n\nAnswer: (H)", "B"),
    ("The answer is (B). So the answer is 42.", "B"),
    ("The answer is B. Answer: None of the above", "B"),
    ("Answer: A and B", None),
    ("Answer: A & B", None),
    ("Answer: A, C", None),
    ("Answer: (A), (C)", None),
    ("Answer: (A) or (C)", None),
    ("Answer: A and/or B", None),
    ("Answer: A or possibly B", None),
    ("Answer: either A or B", None),
    ("Answer: both A and B.", None),
    ("Answer: A, B, and D", None),
    ("The answer is A or B, I cannot tell.", None),
    ("The answer is a combination of (C) and (D).", None),
    ("The answer is (A) supply and (C) demand.", None),
    ("I would go with B or C.", None),
    ("答案是A或B", None),
    ("La réponse est A ou B.", None),
    ("The answer is A. On reflection it is A or C.", None),
    ("Either A or B might do. The answer is B.", "B"),
    ("Answer: B, B", "B"),
    ("The answer could be B.", "B"),
    ("The answer is C, though it could be B.", "C"),
]

LANGUAGES = [
    ("答案是B", "B"),
    ("答案：C", "C"),
    ("答案为 (D)。", "D"),
    ("正确答案是：选项C", "C"),
    ("因此，正确选项是B。", "B"),
    ("故选C。", "C"),
    ("所以选择D。", "D"),
    ("选B", "B"),
    ("B是正确的。", "B"),
    ("不选A，选B", "B"),
    ("答案不是A。", None),
    ("不能选A", None),
    ("A选项是错误的", None),
    ("選項A不正確", None),
    ("正解はBです。", "B"),
    ("正解：C", "C"),
    ("答えは (A) です", "A"),
    ("正しい選択肢はDです。", "D"),
    ("Cが正解です。", "C"),
    ("答えはAではありません。", None),
    ("정답: B", "B"),
    ("정답은 C입니다.", "C"),
    ("답은 D 입니다", "D"),
    ("B가 정답입니다.", "B"),
    ("정답은 A가 아닙니다.", None),
    ("Die richtige Antwort ist C.", "C"),
    ("Antwort: B", "B"),
    ("Lösung: (D)", "D"),
    ("B ist richtig.", "B"),
    ("Die Antwort ist nicht B.", None),
    ("La bonne réponse est la C.", "C"),
    ("La réponse n'est pas B.", None),
    ("L'option B est correcte.", "B"),
    ("La respuesta correcta es la B.", "B"),
    ("Respuesta: D", "D"),
    ("La respuesta no es B.", None),
    ("La opción correcta es (C)", "C"),
    ("La risposta corretta è la B.", "B"),
    ("Risposta: A", "A"),
    ("La risposta non è B.", None),
    ("A resposta correta é a letra C.", "C"),
    ("Resposta: B", "B"),
    ("A resposta não é B.", None),
    ("Alternativa correta: D", "D"),
    ("Правильный ответ: B", "B"),
    ("Ответ: Б", "B"),
    ("Ответ — C.", "C"),
    ("Правильный ответ — (D)", "D"),
    ("Ответ не B.", None),
    ("الإجابة الصحيحة هي C", "C"),
    ("الإجابة الصحيحة هي: د", "D"),
    ("الجواب: أ", "A"),
    ("الإجابة ليست B", None),
    ("सही उत्तर B है।", "B"),
    ("उत्तर: C", "C"),
    ("उत्तर B नहीं है।", None),
    ("উত্তর: খ", "B"),
    ("Jawaban yang benar adalah C.", "C"),
    ("Jibu sahihi ni B.", "B"),
    ("Ìdáhùn: D", "D"),
    ("Doğru cevap: B", "B"),
    ("Doğru cevap B'dir.", "B"),
    ("Đáp án: C", "C"),
    ("Đáp án đúng là B.", "B"),
    ("Prawidłowa odpowiedź: D", "D"),
    ("Het juiste antwoord is B.", "B"),
    ("คำตอบคือ C", "C"),
    ("Απάντηση: Β", "B"),
]

NUMBERS = [
    ("2", "2"),
    ("(2)", "2"),
    ("2.", "2"),
    ("Answer: 2.", "2"),
    ("Answer: 2) Osmosis", "2"),
    ("The answer is option 3, because it floats.", "3"),
    ("Option 3 is correct.", "3"),
    ("\\boxed{4}", "4"),
    ("Oil floats.\n\n3", "3"),
    ("Answer: 3 wheels", None),
    ("Answer: 2.5", None),
    ("Answer: -2", None),
    ("Answer: 2%", None),
    ("Answer: 1/2", None),
    ("Answer: 2 + 2", None),
    ("Answer: 5", None),
    ("Answer: 1 or 2", None),
    ("1. First, oil floats.\n2. Then it sinks.", None),
    ("There are 3 wheels.", None),
    ("Answer: B", None),
]

TEN_LABELS = [
    ("The answer is I.", "I"),
    ("The answer is (I).", "I"),
    ("I", "I"),
    ("(I)", "I"),
    ("I. Oil floats.", "I"),
    ("Answer: I because oil floats", "I"),
    ("Answer: I think we need more data", None),
    ("I would say (J).", "J"),
    ("The records (C) are in, the letter (D) is not, so the most likely is (J).", "J"),
    ("The answer is (A, C, D, F).", None),
    ("The current is measured in amperes (A) and then", None),
]

WEAK = [
    ("Oil floats on water, thus we see (C).", "C"),
    ("The powerhouse is the mitochondria (B).", "B"),
    ("It has to be **B) osmosis** here.", "B"),
    ("**A** is wrong and **B** fits.", "B"),
    ("(A) is heavy while (B) is light.", None),
    ("We reject (B).", None),
]

OTHER = [
    ("<think>The answer is A.</think>The answer is B.", "B"),
    ("<think>The answer is A.", None),
    ("The answer is A.\n</think>\n\nUnclear.", None),
    ("The answer is B.<|im_end|>\n<|im_start|>user\nAnswer: C", "B"),
    ("The answer is B.\n\nProblem: What is red?\nAnswer: C", "B"),
    ("The answer is B. Question: What is red? Answer: C", "B"),
    ("Question: What floats?\nAnswer: B", "B"),
    ("", None),
    ("   \n\t", None),
    ("!!!", None),
]


@pytest.mark.parametrize(
    ("text", "expected"), CUES + LABEL_FIRST + PLACES + BOXES + NEAR_MISSES + SEVERAL + LANGUAGES + WEAK + OTHER
)
def test_an_answer_among_four_letters(text: str, expected: str | None) -> None:
    assert chosen(text) == expected


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_an_answer_among_numbers(text: str, expected: str | None) -> None:
    assert chosen(text, DIGITS) == expected


@pytest.mark.parametrize(("text", "expected"), TEN_LABELS)
def test_an_answer_among_ten_letters(text: str, expected: str | None) -> None:
    assert chosen(text, TEN) == expected


LISTED = "What carries water?\n\nA. Osmosis\nB. Red light\nC. osmosis pump\nD. Red  Light!\nAnswer:"
COPIES = [
    ("Osmosis", "A"),
    ("The answer is osmosis.", "A"),
    ("Answer: Osmosis pump", "C"),
    ("Answer: A Osmosis", "A"),
    ("\\boxed{\\text{Osmosis}}", "A"),
    ("Water moves.\n\nOsmosis pump.", "C"),
    ("Red light", None),
    ("Osmosis and red light", None),
    ("It is about osmosis in cells.", None),
    ("Osmosis. The answer is D.", "D"),
]


@pytest.mark.parametrize(("text", "expected"), COPIES)
def test_an_option_copied_from_the_prompt(text: str, expected: str | None) -> None:
    assert chosen(text, prompt=LISTED) == expected


def test_a_copy_does_not_count_where_the_prompt_gives_no_texts() -> None:
    assert chosen("Osmosis") is None


def test_a_question_about_the_wrong_one_may_be_answered_by_the_incorrect_option() -> None:
    assert chosen("The incorrect statement is B.", prompt="Which statement is incorrect?") == "B"
    assert chosen("The incorrect statement is B.", prompt="Which statement holds?") is None


RULES = [
    ("The answer is B.", "cue"),
    ("B is correct.", "label_first"),
    ("\\boxed{B}", "boxed"),
    ("B", "alone"),
    ("Oil floats.\n\nB) Osmosis", "last_line"),
    ("B. Oil floats.", "start"),
    ("The answer could be B.", "hedged"),
    ("Here we see **B) osmosis** at work.", "bold"),
    ("The powerhouse is the mitochondria (B).", "bracket"),
    ("Answer: A or B", "undecided"),
    ("Nothing.", "none"),
]


@pytest.mark.parametrize(("text", "rule"), RULES)
def test_the_rule_that_fired_is_recorded(text: str, rule: str) -> None:
    assert score(task(), text).rule == rule


def test_failures_tell_a_wrong_label_from_no_answer() -> None:
    assert score(task(answer="B"), "Answer: B").failure is None
    assert score(task(answer="B"), "Answer: C").failure == "wrong"
    assert score(task(answer="B"), "Answer: none").failure == "no_answer"


PIECES = ["answer", "The ", " is ", "not ", "A", "B", " or ", "(", ")", "**", "\\boxed{", "}", "\n", ": ", ".", "I", "a ",
          "Question:", "<think>", "</think>", "答案", "正解は", "ب", "$", "`", "correct", "option ", "1", ",", "~~"]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
def test_any_text_gives_a_displayed_label_or_none(text: str) -> None:
    for options in (FOUR, TEN, DIGITS):
        found = score(task(options, prompt=LISTED), text)
        assert found.extracted is None or found.extracted in options
        assert (found.failure == "no_answer") == (found.extracted is None)


@pytest.mark.parametrize(
    "piece",
    [
        "A ",
        "A or B ",
        "(A",
        "\\boxed{",
        "**",
        "answer is ",
        "Answer: A\n",
        "<think>",
        "not ",
        "a",
        " ",
        "\n",
        "A) x\n",
        "$",
        "~~",
        "ب ",
        "*",
        "_A",
        "</",
        "Question:\n",
    ],
)
def test_megabytes_of_repetition_end(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert score(task(), text).extracted in (*FOUR, None)
