//! Reading the text form.
//!
//! A line consists of words and the signs `;`, `:`, `=` and `<-`. No sign can be part of a name, so blanks are needed only
//! between words, and one token of lookahead suffices.

use super::draft::{DraftedEvent, HistoryDraft};
use super::words::{self, ParseFault, quote};
use raddle_core::execution::{
    Action, Execution, LocationId, MemoryOrder, SourceClaim, ThreadId, Value,
};

const EVENTS: &str = "an event: R, W, RMW, CAS, F, F.ss, LOCK, UNLOCK, SPAWN or JOIN";

/// Reads a history in the text form.
pub(super) fn read(text: &str) -> Result<Execution, ParseFault> {
    let mut draft = HistoryDraft::new();
    let mut at = 0;
    for line in text.split('\n') {
        let code = line.split('#').next().unwrap_or_default();
        TextLine { tokens: TextTokens { line: code, next: 0, base: at }, draft: &mut draft }
            .read()?;
        at += line.len() + 1;
    }
    draft.finish(false, text.len(), "a line such as 'P0: W x 1; R y 0'")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextToken<'a> {
    Word(&'a str),
    Sign(&'static str),
    End,
}

impl TextToken<'_> {
    fn found(self) -> String {
        match self {
            TextToken::Word(word) => format!("found {}", quote(word)),
            TextToken::Sign(sign) => format!("found '{sign}'"),
            TextToken::End => "the line ends here".to_owned(),
        }
    }
}

/// The tokens of a line that starts at the offset `base`.
#[derive(Clone, Copy)]
struct TextTokens<'a> {
    line: &'a str,
    next: usize,
    base: usize,
}

impl<'a> TextTokens<'a> {
    /// The next token and its offset.
    fn next(&mut self) -> (usize, TextToken<'a>) {
        let bytes = self.line.as_bytes();
        let is_blank = |&byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        self.next += bytes[self.next..].iter().take_while(|byte| is_blank(byte)).count();
        let start = self.next;
        let token = match bytes.get(start) {
            None => TextToken::End,
            Some(b';') => TextToken::Sign(";"),
            Some(b':') => TextToken::Sign(":"),
            Some(b'=') => TextToken::Sign("="),
            Some(b'<') if bytes.get(start + 1) == Some(&b'-') => TextToken::Sign("<-"),
            Some(b'<') => TextToken::Sign("<"),
            Some(_) => {
                let ends = |byte: &u8| is_blank(byte) || matches!(byte, b';' | b':' | b'=' | b'<');
                let rest = &bytes[start..];
                let len = rest.iter().position(ends).unwrap_or(rest.len());
                TextToken::Word(&self.line[start..start + len])
            }
        };
        self.next += match token {
            TextToken::Word(word) => word.len(),
            TextToken::Sign(sign) => sign.len(),
            TextToken::End => 0,
        };
        (self.base + start, token)
    }

    fn peek(mut self) -> (usize, TextToken<'a>) {
        self.next()
    }

    /// Takes the next token if it is this sign.
    fn skip(&mut self, sign: &'static str) -> bool {
        let skipped = self.peek().1 == TextToken::Sign(sign);
        if skipped {
            self.next();
        }
        skipped
    }

    fn word(&mut self, expected: &str) -> Result<(usize, &'a str), ParseFault> {
        match self.next() {
            (at, TextToken::Word(word)) => Ok((at, word)),
            (at, token) => Err(unexpected(at, token, expected)),
        }
    }
}

fn unexpected(at: usize, token: TextToken<'_>, expected: &str) -> ParseFault {
    ParseFault::new(at, format!("{}: expected {expected}", token.found()))
}

struct TextLine<'a, 'd> {
    tokens: TextTokens<'a>,
    draft: &'d mut HistoryDraft,
}

impl TextLine<'_, '_> {
    fn read(&mut self) -> Result<(), ParseFault> {
        if self.tokens.peek().1 == TextToken::End {
            return Ok(());
        }
        let (at, head) = self.tokens.word("a thread, init or locations, then ':'")?;
        let (colon_at, colon) = self.tokens.next();
        if colon != TextToken::Sign(":") {
            let expected = format!("':' after {}, as in 'P0: W x 1'", quote(head));
            return Err(unexpected(colon_at, colon, &expected));
        }
        match head {
            "init" => self.init(),
            "locations" => self.locations(),
            thread => {
                let thread = self.draft.declare(thread, at)?;
                self.events(thread)
            }
        }
    }

    fn init(&mut self) -> Result<(), ParseFault> {
        while self.tokens.peek().1 != TextToken::End {
            let (at, name) = self.tokens.word("LOCATION=VALUE")?;
            let (sign_at, sign) = self.tokens.next();
            if sign != TextToken::Sign("=") {
                let expected = format!("'=' and the initial value of {}", quote(name));
                return Err(unexpected(sign_at, sign, &expected));
            }
            let value = self.value("an initial value")?;
            self.draft.init(name, value, at)?;
        }
        Ok(())
    }

    fn locations(&mut self) -> Result<(), ParseFault> {
        while self.tokens.peek().1 != TextToken::End {
            self.location("a location")?;
        }
        Ok(())
    }

    fn events(&mut self, thread: ThreadId) -> Result<(), ParseFault> {
        while self.tokens.peek().1 != TextToken::End {
            self.event(thread)?;
            match self.tokens.next() {
                (_, TextToken::Sign(";") | TextToken::End) => {}
                (at, token) => return Err(unexpected(at, token, "';' or the end of the line")),
            }
        }
        Ok(())
    }

    fn event(&mut self, thread: ThreadId) -> Result<(), ParseFault> {
        let (at, op) = self.tokens.word(EVENTS)?;
        let (op, order_at, order) = split_order(at, op)?;
        let (operand_at, _) = self.tokens.peek();
        let action = self.action(at, op)?;
        self.check_fence(&action)?;
        let (source_at, claim) = self.parse_source(op, &action)?;
        self.draft.push(DraftedEvent {
            thread,
            action,
            order,
            claim,
            operand_at,
            order_at,
            source_at,
        })
    }

    fn action(&mut self, at: usize, op: &str) -> Result<Action, ParseFault> {
        Ok(match op {
            "R" => Action::Read {
                location: self.location("the location read")?,
                value: self.value("the value read")?,
            },
            "W" => Action::Write {
                location: self.location("the location written")?,
                value: self.value("the value written")?,
            },
            "RMW" => Action::Rmw {
                location: self.location("the location updated")?,
                read: self.value("the value read")?,
                written: self.value("the value written")?,
            },
            "CAS" => self.compare_exchange()?,
            "F" => Action::Fence,
            "F.ss" => Action::StoreFence,
            "LOCK" => Action::Lock { lock: self.location("the lock acquired")? },
            "UNLOCK" => Action::Unlock { lock: self.location("the lock released")? },
            "SPAWN" => Action::Spawn { thread: self.target("the thread started")? },
            "JOIN" => Action::Join { thread: self.target("the thread waited for")? },
            _ => return Err(unexpected(at, TextToken::Word(op), EVENTS)),
        })
    }

    /// Checks that a fence has no operand.
    fn check_fence(&self, action: &Action) -> Result<(), ParseFault> {
        match (action, self.tokens.peek()) {
            (Action::Fence | Action::StoreFence, (at, token @ TextToken::Word(_))) => {
                let found = token.found();
                let message = format!(
                    "{found} after a fence, which has no location: expected ';' or the end of the line"
                );
                Err(ParseFault::new(at, message))
            }
            _ => Ok(()),
        }
    }

    fn compare_exchange(&mut self) -> Result<Action, ParseFault> {
        let location = self.location("the location compared")?;
        let expected = self.value("the value compared with")?;
        let desired = self.value("the value to write")?;
        let succeeded = self.tokens.peek().1 != TextToken::Word("failed");
        let mut read = expected;
        if !succeeded {
            self.tokens.next();
            read = self.value("the value read")?;
        }
        Ok(Action::Cas { location, expected, desired, read, succeeded })
    }

    fn location(&mut self, expected: &str) -> Result<LocationId, ParseFault> {
        let (at, name) = self.tokens.word(expected)?;
        self.draft.location(name, at)
    }

    fn target(&mut self, expected: &str) -> Result<ThreadId, ParseFault> {
        let (at, name) = self.tokens.word(expected)?;
        self.draft.mention(name, at)
    }

    fn value(&mut self, expected: &str) -> Result<Value, ParseFault> {
        let (at, word) = self.tokens.word(expected)?;
        words::value(word, at)
    }

    fn parse_source(
        &mut self,
        op: &str,
        action: &Action,
    ) -> Result<(usize, SourceClaim), ParseFault> {
        let (arrow_at, _) = self.tokens.peek();
        if !self.tokens.skip("<-") {
            return Ok((arrow_at, SourceClaim::Unnamed));
        }
        if !action.has_source() {
            let message =
                format!("{op} has no source: expected '<-' after R, RMW, CAS or LOCK only");
            return Err(ParseFault::new(arrow_at, message));
        }
        let (at, word) = self.tokens.word("a source: THREAD.INDEX or init")?;
        Ok((at, self.draft.claim(word, at)?))
    }
}

/// Splits the memory order from an event: `R.acq` is `R` with acquire order, from its offset on.
fn split_order(at: usize, op: &str) -> Result<(&str, usize, Option<MemoryOrder>), ParseFault> {
    let Some((event, suffix)) = op.split_once('.').filter(|_| op != "F.ss") else {
        return Ok((op, at, None));
    };
    let order_at = at + event.len() + 1;
    match event {
        "F" if MemoryOrder::from_name(suffix).is_none() => {
            let expected = "expected ss, acq, rel, ar or sc";
            let message = format!("{} is not a kind of fence: {expected}", quote(suffix));
            Err(ParseFault::new(order_at, message))
        }
        "R" | "W" | "RMW" | "CAS" | "F" => {
            Ok((event, order_at, Some(words::order(suffix, order_at)?)))
        }
        "LOCK" | "UNLOCK" | "SPAWN" | "JOIN" => {
            let message = format!("{event} has no memory order: expected {event} alone");
            Err(ParseFault::new(order_at, message))
        }
        _ => Err(unexpected(at, TextToken::Word(op), EVENTS)),
    }
}
