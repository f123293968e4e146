"""The words that make a label a choice, in the languages that are read.

Spaced languages are read word by word (`cues.py`); scripts written without spaces, or with endings glued to the
word, by the patterns at the end. All words are lower case. Adding a language means adding its words here.
"""

from __future__ import annotations

import re
import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _glued(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for text in normal form NFKC, which splits some vowels of the pattern itself."""
    return re.compile(unicodedata.normalize("NFKC", pattern), re.VERBOSE | re.IGNORECASE)


ANSWER_NOUNS = _words(
    """
    answer answers ans án lời antwort lösung réponse reponse respuesta solución solucion resposta solução risposta
    soluzione ответ відповідь jawaban jawabannya jawapan jibu ìdáhùn idáhùn idahun cevap cevabı yanıt yanıtı odpowiedź
    odpověď odpoveď antwoord svar svaret vastaus válasz răspuns răspunsul răspunsuri απάντηση отговор одговор
    الإجابة الاجابة إجابة اجابة الجواب جواب جواب: پاسخ उत्तर जवाब উত্তর תשובה התשובה
    """
)
OPTION_NOUNS = _words(
    """
    option choice letter alternative opción opcion lettre choix letra alternativa opção opcao opzione lettera scelta
    möglichkeit buchstabe variante вариант буква варіант pilihan opsi huruf chaguo seçenek şık opcja optie keuze
    alternativ επιλογή الخيار विकल्प বিকল্প
    """
)
SUBJECT_NOUNS = (
    ANSWER_NOUNS
    | OPTION_NOUNS
    | _words(
        "response solution statement pick selection guess match conclusion key candidate verdict decision"
        " richtig korrekt"
    )
)
LIST_NOUNS = _words("options choices answers alternatives opciones choix alternativas opções opzioni optionen варианты")
# These stand for the noun before a colon: "Correct: B", "Therefore: B".
COLON_WORDS = _words(
    """
    correct right final selected chosen conclusion result output verdict prediction therefore thus hence solution
    response correction correcta correcte correta corretta richtig respuesta итак
    """
)
ADJECTIVES = _words(
    """
    the a an my our your his its this that so and then final correct right best only true appropriate accurate likely
    most closest nearest better therefore thus hence actual single suitable plausible valid intended expected
    die der das richtige korrekte beste also somit daher la le les l bonne bon correcte juste exacte donc el los
    correcta mejor una un o a correta melhor certa il lo corretta giusta migliore правильный верный
    правильная верная yang benar tepat sahihi doğru poprawna prawidłowa správná juiste rätta rätt корректный
    الصحيحة الصحيح सही সঠিক σωστή đáp đúng câu trả
    """
)
FILLERS = _words(
    """
    probably likely most definitely clearly therefore thus then indeed simply obviously actually still again
    certainly surely just only the both either combination of mix indeed undoubtedly
    also really now la le el o il die der das number nr in fact
    """
)
PARENTHETICAL = _words("probably likely therefore thus then indeed obviously actually clearly hence certainly surely")
# "Clearly B.", "Most likely (C)": an adverb and a label are a sentence.
ADVERBS = _words("probably likely definitely clearly obviously certainly surely undoubtedly indeed simply")
CORRECT = _words(
    "correct right best correcta correcte correta corretta richtige korrekte doğru benar सही সঠিক правильный верный"
)
COPULAS = _words(
    """
    is are was were be being equals remains becomes ist lautet wäre est sera es sería será è e' é seria foi — adalah
    ialah ni это является есть هي هو là to jest je är er on olur είναι este है হল হলো
    """
)
AUXILIARIES = _words(
    """
    would should must will shall has have to had ought can could might may need needs does do also definitely clearly
    then thus therefore indeed most likely probably certainly still now just simply actually only always itself here
    seems appears sein müsste sollte devrait être debe ser deve essere должен быть
    """
)
HEDGES = _words("could might may can perhaps possibly könnte pourrait podría poderia potrebbe")
NEGATORS = _words(
    """
    not never neither nor cannot hardly isn't aren't wasn't won't wouldn't can't couldn't don't doesn't didn't shouldn't
    unlikely doubt reject rejects rejected rejecting eliminate eliminates eliminated eliminating discard
    discards discarded dismiss dismisses dismissed exclude excluded nicht kein keine pas non não no не ні bukan tidak
    siyo değil không nie niet inte ikke ليس ليست لا नहीं না নয় rarely excludes excluding except without
    """
)
ALL = _words("all every everything any anything")
NONE = _words("none neither nor keine aucune ninguna nessuna nenhuma")
PRONOUNS = _words("it that this it'd that'd c'est it's that's das dies ça cela ello isso questo это")
CHOOSING = _words(
    """
    choose choosing chose chosen select selecting selected pick picking picked answer say guess mark tick choosing
    wähle wählen choisis choisir elijo elegir escolho escolher scelgo scegliere выбираю выбрать memilih pilih wybieram
    """
)
# A verb with its particle: "go with", "corresponds to".
PARTICLES = {
    "with": _words("us go going went gone stick sticking matches match aligns align agrees fits consistent settle"),
    "for": _words("opt opting opted vote settle"),
    "on": _words("settle settling decide"),
    "to": _words("corresponds correspond corresponding closest equivalent equal points point close leads lean leaning"),
    "towards": _words("lean leaning"),
    "toward": _words("lean leaning"),
    "by": _words("given represented described"),
    "as": _words("answer choice option"),
}
LINKING_VERBS = _words(
    "matches match gives yields satisfies leaves leaving selects supports favors favours indicates suggests means"
)
CONCLUSIVE = _words(
    """
    so therefore thus hence elimination ergo consequently accordingly finally overall donc ainsi also somit folglich
    luego entonces portanto logo quindi dunque perciò поэтому значит следовательно итак jadi maka dolayısıyla więc
    """
)
THINKING_VERBS = _words("think believe guess suppose feel conclude say assume know reckon claim mean suspect vote")
CERTAINTY = _words("sure certain clear true confident likely")
SUPPOSING = _words("if whether suppose supposing assume assuming unless imagine when wenn ob falls si se если jika")
# "Wait, B", "Actually, B": the speaker's correction.
REVISING = _words("wait actually no sorry oops hmm rather correction nein non perdón espera")
WRONG = _words(
    "wrong incorrect false invalid falsche inkorrekte incorrecte fausse incorrecta incorreta errata неверный"
)
TEMPTING = _words(
    """
    might may could can often sometimes mistakenly wrongly incorrectly tempting tempted mistake mistaken easy error
    people students many some others someone distractor trap naive naively
    """
)
# After a bare label, these words show that the label ended there.
FOLLOWING = _words(
    """
    because since as for due which with that from based given though although but by per according when
    where while if in on at not rather instead over and or weil da denn parce puisque porque
    here then too anyway however ya pois perché poiché потому так karena sebab çünkü vì omdat want bo ponieważ kwa fordi
    eftersom
    """
)
VERBS = _words("is was can cannot has does would will could should may might seems fails gives isn't doesn't")
# After A, I, a digit or a lower-case letter only these do: the rest could follow an article, a pronoun, a number.
FOLLOWING_STRICT = _words(
    "because since due as which based given but although though weil denn parce porque perché потому karena vì"
)

# Languages whose words run together: what stands directly before a label, and after one.
GLUED_BEFORE = _glued(
    r"""(?:
      (?:答案|正[确確]选?项?答?案?|正[确確]的?[选選][项項]|最[^。\n]{0,8}[选選][项項]|[选選][项項](?=是|为|為|应|:)|正[确確]的|答|【?(?:参考)?答案[】\]])
          (?:应该|應該|应|應|就|只能|显然|当然|显然就|最终|可能)?(?:是|为|為|选|選|选择|選擇|即|在于|:|：|,|(?<=[】\]]))
      | 而是
      | (?<![不别別非勿])(?<!不应)(?<!不能)(?<!不该)(?:[选選](?:择|擇)?|[选選]的?是)
      | 答[案え](?:は|が|:)? | 正解(?:は|が|:)? | 解答(?:は|:)? | 回答(?:は|:|为|是)?
      | 正しい(?:の|もの|選択肢|答え)(?:は|が) | 正答(?:は|:)
      | (?:したがって|従って|よって|ゆえに)、? | (?:適切|妥当|適当|正し|近)[いなの]{1,3}(?:もの|の|選択肢)?は
      | 최?종?\s?(?:정답|답변|답안|답|해답)(?:은|는|이|:)? | 옳은\s?것은 | 정답\s?선택지는
      | คำตอบ(?:ที่ถูกต้อง)?(?:คือ|:)? | ตอบ | ข้อที่ถูก(?:ต้อง)?คือ | ចម្លើយ(?:គឺ|:)?
    )\s{0,4}:?\s{0,4}(?:是|为)?\s{0,2}(?:选项|選項|選択肢|选|選|选择|보기|선택지|ข้อ)?\s{0,2}$"""
)
GLUED_AFTER = _glued(
    r"""\s{0,2}[)\]】」}]?\s{0,2}(?:
      (?:这个|這個)?(?:项|項|选项|選項)?(?:才|就|显然|最)?(?:是|为|為)?(?:唯一)?(?:最)?(?:正[确確]|对的|對的|合适|符合|恰当)
      | (?:项|項|选项|選項)?(?:是|为|為)(?:本题)?(?:的)?(?:答案|对|對)
      | (?:が|は)(?:最も)?(?:正解|正しい|答え|正答|適切|当てはま) | を(?:選|選択)
      | \s?번?\s?(?:을|를)\s?(?:선택|고르|고릅)
      | \s?번?\s?(?:이|가|은|는)?\s?(?:정답|맞습|맞다|맞는|옳|답입|답이)
      | (?:ถูกต้อง|เป็นคำตอบ)
      | \s(?:सही|সঠিক)
    )"""
)
# "B is wrong", "B cannot be": the words after a label that take it back.
REFUTED = _glued(
    r"""["'”’)\]】」}]{0,3}[ \t]{0,2}(?:
      (?:这个|這個)?(?:项|項|选项|選項)?(?:并|就|也|都)?(?:是|为|為)?(?:不(?!是\s?[A-Z])|错|錯|非|没)
      | (?:では|じゃ|で)(?:は)?(?:な|あり) | (?:は|が)(?:間違|不|誤|正しくな|違)
      | \s?번?(?:이|가|은|는)?\s?(?:아니|아닙|아닌|틀|오답|정답이\s?아)
      | (?:नहीं|गलत|নয়|ভুল|ليس|ليست|خاطئ|خطأ|ไม่|ผิด)
      | (?:is|are|was|were|seems|looks|appears|would\sbe|must\sbe|can|could|would|does|do|should|will|being)
          (?:\s(?:also|clearly|definitely|obviously|just|simply|therefore|thus|to\sbe|probably|likely|an?|the)){0,3}
          (?:\s(?:not|never)\b|n['’]?t\b|not\b
            |\s(?:wrong|incorrect|false|invalid|untrue|ruled\sout|eliminated|irrelevant))
      | (?:isn|aren|wasn|can|won|doesn|don|wouldn|couldn)['’]?t\b | cannot\b | fails?\b | [✗✘❌×]
      | ist\s(?:\w{1,10}\s)?(?:falsch|nicht|keine) | est\s(?:fau|incorrect|erron) | n['’]est\spas
      | (?:es|está)\s(?:incorrect|fals) | no\s(?:es|está) | (?:é|está)\s(?:incorret|errad|fals) | não\s(?:é|está)
      | (?:è|e')\s(?:sbagliat|errat|fals|scorrett) | non\sè | не\s | неверн | неправильн | bukan | tidak | salah
    )"""
)
# "B: incorrect", "B. Wrong because …" beside a label that nothing claims; "B. False" may be an option's text.
MARKED_WRONG = _glued(r"""["'”’)\]】」}.:]{0,3}\s{0,2}(?:[-–—]\s)?(?:\(?(?:wrong|incorrect)\b|[✗✘❌×])""")
MARKED_FALSE = _glued(
    r"""["'”’)\]】」}.:]{1,3}\s{0,2}(?:[-–—]\s)?(?:false|no)(?:\s{0,2}[.:;!)–—-]|[ \t]*(?:\n|$)|\s(?:because|since))"""
)
# "B is correct", "B would be the best answer", "B: correct".
LABEL_FIRST = _glued(
    r"""["'”’)\]】}]{0,3}(?:
      \s{0,2}(?:[:.,–—-]\s{0,2})?(?:✓|✔|✅|☑|\(?(?:correct|right)\b(?!\s+(?:to|that|if|side|hand|angle|triangle)\b))
      | \s{1,3}(?:is|are|'s|was|seems|looks|appears|would\sbe|must\sbe|has\sto\sbe|should\sbe|will\sbe
          |remains|stands\sout)
          (?:\s(?:to\sbe|as|indeed|clearly|definitely|therefore|thus|obviously|the|my|our|probably|most|likely|only
                 |actually|final|single|overall|closest|still|then|really|an?)){0,4}
          \s(?:correct|right|answer|solution|best|better(?!\sthan\b)|true\sanswer|appropriate|accurate|suitable|plausible|option\b
             |choice\b|one\b|remaining|winner|closest|left)\b(?!\s+(?:distractor|trap|in\spart|only\sif|but\b))
      | \s{1,3}(?:is|seems|looks|appears)\s(?:the\s)?most\s(?:likely|probable)\b(?!\sto\b)
      | \s{1,3}(?:best|most\saccurately|correctly)
          \s(?:describes|fits|matches|explains|answers|represents|completes|captures)
      | \s{1,3}(?:fits|matches|works|describes)\s(?:it\s|this\s)?best\b
      | \s{1,3}the\s(?:correct|right|best|final)\s(?:answer|option|choice)\b
      | \s{1,3}it\sis\b | \s{1,3}(?:richtig|korrekt)\b
      | \s{1,3}ist\s(?:\w{1,10}\s)?(?:richtig|korrekt)
      | \s{1,3}est\s(?:la\s|le\s|l['’])?(?:bonne|bon\b|correct|juste|exact|réponse)
      | \s{1,3}(?:es|está)\s(?:la\s|el\s)?(?:correct|respuesta|opción\scorrect)
      | \s{1,3}(?:é|está)\s(?:a\s|o\s)?(?:corret|cert|resposta)
      | \s{1,3}(?:è|e')\s(?:la\s|il\s|l['’])?(?:corrett|giust|rispost)
      | \s{0,2}[-–—]?\s{0,2}(?:является\s)?(?:правильн|верн)
      | \s{1,3}(?:adalah\s)?(?:jawaban\s)?(?:yang\s)?(?:benar|tepat) | \s{1,3}doğru | \s{1,3}jest\s(?:poprawn|prawidłow)
      | \s{1,3}is\s(?:juist|het\sjuiste) | \s{1,3}(?:هي|هو)\s(?:الإجابة|الجواب|الصحيح)
    )"""
)
# After "only": "Only D remains."
ONLY_ONE = _glued(
    r"""["'”’)\]】}]{0,3}\s(?:remains|fits|works|satisfies|matches|makes\ssense
      |is\s(?:possible|plausible|consistent|valid|true|left|correct|right)|can\sbe\s(?:true|correct|right))\b"""
)
