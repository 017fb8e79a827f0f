//! Arguments, the absence of variables, and the exit status.
use std::process::exit;

fn main() {
    println!("{} {:?}", std::env::args().count(), std::env::args().skip(1).collect::<Vec<_>>());
    println!("{:?}", std::env::var("RADDLE_NO_SUCH_VARIABLE"));
    exit(17);
}
