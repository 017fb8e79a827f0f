//! Every kind of formatting: width, alignment, radix, debug structures, named and positional arguments.
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
struct Point { x: i32, y: Option<f64>, name: &'static str }
#[derive(Debug)]
enum Kind { Unit, Tuple(u8, char), Struct { inner: Vec<Point> } }
struct Hex(u32);
impl fmt::Display for Hex { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { if f.alternate() { write!(f, "#{:06x}", self.0) } else { f.pad(&format!("{:x}", self.0)) } } }

fn main() {
    let p = Point { x: -3, y: Some(2.5), name: "tab\t\"quote\" \u{e9}" };
    println!("{p:?}\n{p:#?}");
    println!("{:?} {:?} {:#?}", Kind::Unit, Kind::Tuple(7, '\n'), Kind::Struct { inner: vec![p.clone()] });
    println!("{:5}|{:<5}|{:^5}|{:>5}|{:*^9}|{:+}|{:05}|{:#x}|{:#010b}|{:o}|{:X}|{:e}", 42, 42, 42, 42, "mid", 42, -42, 255, 5, 64, 48879, 1500);
    let (width, precision) = (10, 2);
    println!("{0:1$} {0:.2$} {value:>width$.precision$}", 3.14159, 9, 3, value = 2.71828);
    println!("[{:>6}] [{:#}] [{:?}] [{:>10}]", Hex(0xab), Hex(0xab), (1, "a", [2.0, 3.5]), format!("{:?}", Some(())));
    println!("{:?} {:?} {:p}", "üñí".chars().rev().collect::<String>(), 'ß'.to_uppercase().to_string(), std::ptr::null::<u8>());
    eprintln!("to the standard error: {}", 5);
}
