//! A panic in main: message on the standard error, exit status 101.
struct Loud;
impl Drop for Loud { fn drop(&mut self) { println!("dropped"); } }

fn main() {
    let _loud = Loud;
    println!("before");
    let n: Option<u32> = std::env::args().nth(100).map(|_| 1);
    println!("{}", n.expect("there is no such argument"));
}
