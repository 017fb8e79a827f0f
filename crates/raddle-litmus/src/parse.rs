//! Parser of tests: head, initial state, threads and condition.
//!
//! ```text
//! X86 SB                           architecture and name
//! "PodWR Fre PodWR Fre"            ignored, up to the first brace
//! { x=0; 0:EAX=0; }                initial values; others are 0
//!  P0          | P1          ;     threads as columns, or functions in C
//!  MOV [x],$1  | MOV [y],$1  ;
//!  MOV EAX,[y] | MOV EAX,[x] ;
//! locations [x;]                   further items of final states
//! filter (x=1)                     only final states that satisfy it count
//! exists (0:EAX=0 /\ 1:EAX=0)      claim about final states
//! ```
//!
//! Comments are `(* *)`, in C code `/* */` and `//`. Text after the condition that starts with `with` or `<<` is for
//! old tools and skipped.

use raddle_consistency::history::quote;
use raddle_explore::plan::Language;

use super::condition::{Proposition, Quantifier, StateItem};
use super::draft::{TestDraft, fitting};
use super::lex::{Comments, ParseResult, SyntaxError, Tokens, is_word_character, lex, skip_blanks};
use super::{LitmusTest, c, x86};

/// First line of a test.
struct TestHead {
    architecture: Architecture,
    name: String,
    /// Offset of the initial state.
    initial: usize,
}

#[derive(Clone, Copy)]
enum Architecture {
    X86(x86::Syntax),
    C,
}

/// Parses a test.
pub(super) fn parse(text: &str) -> ParseResult<LitmusTest> {
    let head = head(text)?;
    let (tokens, end) = tokens(text, &head)?;
    let tokens = Tokens::new(tokens, end);
    let (locations, values, given, threads) = (vec![], vec![], vec![], vec![]);
    let mut draft = TestDraft { tokens, locations, values, given, threads };
    draft.initial_state()?;
    let language = match head.architecture {
        Architecture::X86(syntax) => {
            x86::threads(&mut draft, syntax)?;
            Language::X86
        }
        Architecture::C => {
            c::threads(&mut draft)?;
            Language::C
        }
    };
    draft.set_initial_values()?;
    draft.set_initial_registers()?;
    let end = draft.tail()?;
    Ok(finish(text, head.name, language, draft, end))
}

fn head(text: &str) -> ParseResult<TestHead> {
    let start = skip_blanks(text, 0, text.len(), Comments::Herd)?;
    let first = text[start..].lines().next().unwrap_or_default();
    let mut words = first.split_whitespace();
    let word = words.next().unwrap_or_default();
    let architecture = match word {
        "X86" => Architecture::X86(x86::Syntax::Intel),
        "X86_64" => Architecture::X86(x86::Syntax::Att),
        "C" | "C++" => Architecture::C,
        "" => return Err(SyntaxError::new(start, "the test ends here: expected X86, X86_64 or C")),
        _ => {
            let message = format!("found {}: expected X86, X86_64 or C", quote(word));
            return Err(SyntaxError::new(start, message));
        }
    };
    let after = start + word.len();
    let Some(name) = words.next() else {
        return Err(SyntaxError::new(after, "the line ends here: expected the name of the test"));
    };
    let named = after + text[after..].find(name).unwrap_or(0);
    if name.starts_with(['{', '"']) {
        return Err(SyntaxError::new(
            named,
            format!("found {}: expected the name of the test", quote(name)),
        ));
    }
    let initial = first_brace(text, named + name.len())?;
    Ok(TestHead { architecture, name: name.to_owned(), initial })
}

/// Returns the offset of the first brace outside of comments and strings.
fn first_brace(text: &str, mut at: usize) -> ParseResult<usize> {
    loop {
        at = skip_herd_comments(text, at)?;
        let rest = &text[at..];
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.lines().next()?.find('"'));
        match rest.chars().next() {
            Some('{') => return Ok(at),
            Some('"') => at += quoted.map_or(1, |length| length + 2),
            Some(other) => at += other.len_utf8(),
            None => {
                let message = "the test ends here: expected '{' and the initial state";
                return Err(SyntaxError::new(at, message));
            }
        }
    }
}

/// Skips a comment `(* *)`. Slashes start no comment in the head: they occur in names there.
fn skip_herd_comments(text: &str, at: usize) -> ParseResult<usize> {
    if text[at..].starts_with("(*") {
        skip_blanks(text, at, text.len(), Comments::Herd)
    } else {
        Ok(at)
    }
}

/// Returns all tokens from the initial state on, and the end of the text.
fn tokens(text: &str, head: &TestHead) -> ParseResult<(Vec<super::lex::LocatedToken>, usize)> {
    let body = closing(text, head.initial, Comments::Herd)?;
    let tail = match head.architecture {
        Architecture::X86(_) => body,
        Architecture::C => functions(text, body)?,
    };
    let end = text.len();
    let mut tokens = lex(text, head.initial..body, Comments::Herd)?;
    tokens.extend(lex(text, body..tail, Comments::C)?);
    tokens.extend(lex(text, tail..end, Comments::Herd)?);
    Ok((tokens, end))
}

/// Returns the offset after the brace that closes the one at `open`.
fn closing(text: &str, open: usize, comments: Comments) -> ParseResult<usize> {
    let (mut at, mut depth) = (open, 0);
    loop {
        at = skip_blanks(text, at, text.len(), comments)?;
        match text[at..].chars().next() {
            None => return Err(SyntaxError::new(at, "the test ends here: expected '}'")),
            Some(c) => {
                at += c.len_utf8();
                depth += i32::from(c == '{') - i32::from(c == '}');
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
}

/// Returns the end of the functions of a C test that start at `end`.
fn functions(text: &str, mut end: usize) -> ParseResult<usize> {
    loop {
        let at = skip_blanks(text, end, text.len(), Comments::Herd)?;
        let rest = text[at..].strip_prefix("void").map_or(&text[at..], str::trim_start);
        let is_thread = rest.strip_prefix('P').is_some_and(|rest| {
            let digits = rest.find(|c| !is_word_character(c)).unwrap_or(rest.len());
            rest[..digits].parse::<usize>().is_ok() && rest[digits..].trim_start().starts_with('(')
        });
        if text[at..].starts_with(';') {
            end = at + 1;
            continue;
        }
        let Some(brace) = text[at..].find('{').filter(|_| is_thread) else { return Ok(end) };
        end = closing(text, at + brace, Comments::C)?;
    }
}

/// Part of a test after its threads.
struct TestTail {
    quantifier: Quantifier,
    condition: Proposition,
    filter: Option<Proposition>,
    shown: Vec<StateItem>,
}

impl TestDraft {
    fn tail(&mut self) -> ParseResult<TestTail> {
        let (mut filter, mut shown) = (None, vec![]);
        loop {
            if self.tokens.eat_word("locations") {
                self.shown(&mut shown)?;
            } else if self.tokens.eat_word("filter") {
                filter = Some(self.proposition()?);
            } else if !self.tokens.eat(";") {
                break;
            }
        }
        let quantifier = self.quantifier()?;
        let condition = self.proposition()?;
        self.tokens.eat(";");
        if *self.tokens.peek() != super::lex::LitmusToken::End && !self.tokens.is_word("with") {
            return self.tokens.expected("'/\\', '\\/' or the end of the test");
        }
        Ok(TestTail { quantifier, condition, filter, shown })
    }

    /// `[x; 0:EAX;]`
    fn shown(&mut self, shown: &mut Vec<StateItem>) -> ParseResult<()> {
        self.tokens.sign("[")?;
        while !self.tokens.eat("]") {
            let place = self.state_name("a location or a register, such as 'x' or '0:EAX'")?;
            shown.push(self.item(place)?);
            if !self.tokens.eat(";") && !self.tokens.is_sign("]") {
                return self.tokens.expected("';' or ']'");
            }
        }
        Ok(())
    }

    fn quantifier(&mut self) -> ParseResult<Quantifier> {
        let negated = self.tokens.eat("~") || self.tokens.eat_word("not");
        let exists = self.tokens.eat_word("exists");
        Ok(match (negated, exists) {
            (true, true) => Quantifier::NotExists,
            (false, true) => Quantifier::Exists,
            (false, false) if self.tokens.eat_word("forall") => Quantifier::Forall,
            (false, false) if self.tokens.eat_word("final") => Quantifier::Exists,
            (true, false) => return self.tokens.expected("'exists'"),
            (false, false) => {
                return self
                    .tokens
                    .expected("'exists', '~exists', 'forall', 'locations' or 'filter'");
            }
        })
    }

    /// `a => b`, the operator with the lowest precedence.
    fn proposition(&mut self) -> ParseResult<Proposition> {
        Tokens::nested(
            self,
            |draft| &mut draft.tokens,
            |draft| {
                let left = draft.disjunction()?;
                if !draft.tokens.eat("=>") {
                    return Ok(left);
                }
                let right = draft.proposition()?;
                Ok(Proposition::Or(vec![Proposition::Not(Box::new(left)), right]))
            },
        )
    }

    fn disjunction(&mut self) -> ParseResult<Proposition> {
        let mut all = vec![self.conjunction()?];
        while self.tokens.eat("\\/") || self.tokens.eat("||") {
            all.push(self.conjunction()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Proposition::Or(all) })
    }

    fn conjunction(&mut self) -> ParseResult<Proposition> {
        let mut all = vec![self.literal()?];
        while self.tokens.eat("/\\") || self.tokens.eat("&&") {
            all.push(self.literal()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Proposition::And(all) })
    }

    fn literal(&mut self) -> ParseResult<Proposition> {
        if self.tokens.eat("~") || self.tokens.eat_word("not") {
            let inner = Tokens::nested(self, |draft| &mut draft.tokens, Self::literal)?;
            return Ok(Proposition::Not(Box::new(inner)));
        }
        if self.tokens.eat("(") {
            let inner = self.proposition()?;
            self.tokens.sign(")")?;
            return Ok(inner);
        }
        for truth in [true, false] {
            if self.tokens.eat_word(&truth.to_string()) {
                return Ok(Proposition::Constant(truth));
            }
        }
        self.equation()
    }

    /// `x=1` or `0:EAX!=1`.
    fn equation(&mut self) -> ParseResult<Proposition> {
        let place = self.state_name("a condition, such as '0:EAX=1' or 'x=1'")?;
        let item = self.item(place)?;
        let negated = self.tokens.eat("!=") || self.tokens.eat("<>");
        if !negated && !self.tokens.eat("=") && !self.tokens.eat("==") {
            return self.tokens.expected("'=' or '!='");
        }
        let at = self.tokens.at();
        let value = fitting(self.type_of(item), self.value()?, at)?;
        let equal = Proposition::Equal((item, value));
        Ok(if negated { Proposition::Not(Box::new(equal)) } else { equal })
    }
}

fn finish(
    text: &str,
    name: String,
    language: Language,
    draft: TestDraft,
    end: TestTail,
) -> LitmusTest {
    let TestTail { quantifier, condition, filter, mut shown } = end;
    condition.for_each(&mut |&(item, _)| shown.push(item));
    let mut test = LitmusTest {
        name,
        language,
        locations: draft.locations,
        threads: draft.threads,
        quantifier,
        condition,
        filter,
        shown: vec![],
        text: text.to_owned(),
    };
    test.show(shown);
    test
}
