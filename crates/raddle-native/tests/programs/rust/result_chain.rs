//! Errors: Result, the question mark, From conversions, a boxed error from main.
use std::error::Error;
use std::fmt;
use std::num::ParseIntError;

#[derive(Debug)]
enum Failure { Parse(ParseIntError), Negative(i64) }
impl fmt::Display for Failure { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { match self { Failure::Parse(e) => write!(f, "parse: {e}"), Failure::Negative(n) => write!(f, "negative: {n}") } } }
impl Error for Failure { fn source(&self) -> Option<&(dyn Error + 'static)> { match self { Failure::Parse(e) => Some(e), _ => None } } }
impl From<ParseIntError> for Failure { fn from(e: ParseIntError) -> Self { Failure::Parse(e) } }
fn root(t: &str) -> Result<f64, Failure> { let n: i64 = t.trim().parse()?; if n < 0 { return Err(Failure::Negative(n)) } Ok((n as f64).sqrt()) }

fn main() -> Result<(), Box<dyn Error>> {
    for t in ["16", " 2 ", "-4", "x", ""] {
        match root(t) { Ok(v) => println!("{v:.4}"), Err(e) => println!("{e}, source {}", e.source().is_some()) }
    }
    root("9")?;
    root("nine")?;
    println!("not reached");
    Ok(())
}
