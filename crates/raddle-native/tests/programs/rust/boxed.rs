//! Trait objects, generics, closures in boxes, downcasting.
use std::any::Any;
use std::fmt::Display;

trait Shape { fn area(&self) -> f64; fn name(&self) -> String { "shape".into() } }
struct Square(f64);
struct Circle { r: f64 }
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } fn name(&self) -> String { format!("square {}", self.0) } }
impl Shape for Circle { fn area(&self) -> f64 { std::f64::consts::PI * self.r.powi(2) } }

fn compose(fs: Vec<Box<dyn Fn(i64) -> i64>>) -> impl Fn(i64) -> i64 { move |x| fs.iter().fold(x, |v, f| f(v)) }
fn show(v: &dyn Any) -> String {
    if let Some(n) = v.downcast_ref::<i32>() { format!("i32 {n}") }
    else if let Some(s) = v.downcast_ref::<String>() { format!("string {s}") }
    else { "unknown".into() }
}
fn all(items: &[&dyn Display]) -> String { items.iter().map(|i| i.to_string()).collect::<Vec<_>>().join("|") }

fn main() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.5)), Box::new(Circle { r: 1.5 })];
    for s in &shapes { println!("{} {:.6}", s.name(), s.area()); }
    let k = 7;
    println!("{}", compose(vec![Box::new(|x| x + 1), Box::new(move |x| x * k), Box::new(|x| x - 3)])(5));
    println!("{} {} {}", show(&5i32), show(&String::from("text")), show(&2.5f32));
    println!("{}", all(&[&1, &"two", &3.5, &'4']));
}
