//! Reading a test: its head, the parts it consists of, and its condition.
//!
//! ```text
//! X86 SB                           architecture and name
//! "PodWR Fre PodWR Fre"            anything, up to the first brace
//! { x=0; 0:EAX=0; }                initial values; what is not mentioned is 0
//!  P0          | P1          ;     the threads, or functions of C
//!  MOV [x],$1  | MOV [y],$1  ;
//!  MOV EAX,[y] | MOV EAX,[x] ;
//! locations [x;]                   what else to show
//! filter (x=1)                     executions that do not satisfy this do not count
//! exists (0:EAX=0 /\ 1:EAX=0)      what is asked
//! ```
//!
//! Comments are `(* *)`, in the code of C `/* */` and `//`. What follows the condition after `with` or
//! `<<` is for old tools, and skipped.

use raddle_consistency::history::quote;
use raddle_explore::plan::Language;

use super::condition::{Item, Proposition, Quantifier};
use super::draft::{Draft, fitting};
use super::lex::{Comments, Fault, Parsed, Tokens, is_word_character, lex, skip_blanks};
use super::{Test, c, x86};

/// The first words of a test, and where its initial state begins.
struct Head {
    architecture: Architecture,
    name: String,
    initial: usize,
}

#[derive(Clone, Copy)]
enum Architecture {
    X86(x86::Syntax),
    C,
}

/// Reads a test.
pub(super) fn parse(text: &str) -> Parsed<Test> {
    let head = head(text)?;
    let (tokens, end) = tokens(text, &head)?;
    let tokens = Tokens::new(tokens, end);
    let (locations, values, given, threads) = (vec![], vec![], vec![], vec![]);
    let mut draft = Draft { tokens, locations, values, given, threads };
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
    draft.give_values()?;
    draft.give_registers()?;
    let end = draft.end()?;
    Ok(finish(text, head.name, language, draft, end))
}

fn head(text: &str) -> Parsed<Head> {
    let start = skip_blanks(text, 0, text.len(), Comments::Herd)?;
    let first = text[start..].lines().next().unwrap_or_default();
    let mut words = first.split_whitespace();
    let word = words.next().unwrap_or_default();
    let architecture = match word {
        "X86" => Architecture::X86(x86::Syntax::Intel),
        "X86_64" => Architecture::X86(x86::Syntax::Att),
        "C" | "C++" => Architecture::C,
        "" => return Err(Fault::new(start, "the test ends here: expected X86, X86_64 or C")),
        _ => {
            let message = format!("found {}: expected X86, X86_64 or C", quote(word));
            return Err(Fault::new(start, message));
        }
    };
    let after = start + word.len();
    let Some(name) = words.next() else {
        return Err(Fault::new(after, "the line ends here: expected the name of the test"));
    };
    let named = after + text[after..].find(name).unwrap_or(0);
    if name.starts_with(['{', '"']) {
        return Err(Fault::new(
            named,
            format!("found {}: expected the name of the test", quote(name)),
        ));
    }
    let initial = first_brace(text, named + name.len())?;
    Ok(Head { architecture, name: name.to_owned(), initial })
}

/// Where the first brace is that is neither in a comment nor in quotes.
fn first_brace(text: &str, mut at: usize) -> Parsed<usize> {
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
                return Err(Fault::new(at, message));
            }
        }
    }
}

/// Slashes start no comments in the head: they are in texts there.
fn skip_herd_comments(text: &str, at: usize) -> Parsed<usize> {
    if text[at..].starts_with("(*") {
        skip_blanks(text, at, text.len(), Comments::Herd)
    } else {
        Ok(at)
    }
}

/// All tokens from the initial state on, and where they end.
fn tokens(text: &str, head: &Head) -> Parsed<(Vec<super::lex::Placed>, usize)> {
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

/// Where the braces that open here are closed.
fn closing(text: &str, open: usize, comments: Comments) -> Parsed<usize> {
    let (mut at, mut depth) = (open, 0);
    loop {
        at = skip_blanks(text, at, text.len(), comments)?;
        match text[at..].chars().next() {
            None => return Err(Fault::new(at, "the test ends here: expected '}'")),
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

/// Where the functions of a C test end that begin here.
fn functions(text: &str, mut end: usize) -> Parsed<usize> {
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

/// What comes after the threads.
struct End {
    quantifier: Quantifier,
    condition: Proposition,
    filter: Option<Proposition>,
    shown: Vec<Item>,
}

impl Draft {
    fn end(&mut self) -> Parsed<End> {
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
        if *self.tokens.peek() != super::lex::Token::End && !self.tokens.is_word("with") {
            return self.tokens.expected("'/\\', '\\/' or the end of the test");
        }
        Ok(End { quantifier, condition, filter, shown })
    }

    /// `[x; 0:EAX;]`
    fn shown(&mut self, shown: &mut Vec<Item>) -> Parsed<()> {
        self.tokens.sign("[")?;
        while !self.tokens.eat("]") {
            let place = self.place("a location or a register, such as 'x' or '0:EAX'")?;
            shown.push(self.item(place)?);
            if !self.tokens.eat(";") && !self.tokens.is_sign("]") {
                return self.tokens.expected("';' or ']'");
            }
        }
        Ok(())
    }

    fn quantifier(&mut self) -> Parsed<Quantifier> {
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

    /// `a => b`, which binds weakest.
    fn proposition(&mut self) -> Parsed<Proposition> {
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

    fn disjunction(&mut self) -> Parsed<Proposition> {
        let mut all = vec![self.conjunction()?];
        while self.tokens.eat("\\/") || self.tokens.eat("||") {
            all.push(self.conjunction()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Proposition::Or(all) })
    }

    fn conjunction(&mut self) -> Parsed<Proposition> {
        let mut all = vec![self.literal()?];
        while self.tokens.eat("/\\") || self.tokens.eat("&&") {
            all.push(self.literal()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Proposition::And(all) })
    }

    fn literal(&mut self) -> Parsed<Proposition> {
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
    fn equation(&mut self) -> Parsed<Proposition> {
        let place = self.place("a condition, such as '0:EAX=1' or 'x=1'")?;
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

fn finish(text: &str, name: String, language: Language, draft: Draft, end: End) -> Test {
    let End { quantifier, condition, filter, mut shown } = end;
    condition.for_each(&mut |&(item, _)| shown.push(item));
    let mut test = Test {
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
