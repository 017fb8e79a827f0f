//! Panics that are caught, with payloads, destructors on the way, and a hook.
use std::panic;

struct Loud(&'static str);
impl Drop for Loud { fn drop(&mut self) { println!("drop {}", self.0); } }

fn fails(kind: u32) -> u32 {
    let _guard = Loud("guard");
    let v = vec![1, 2, 3];
    match kind {
        0 => panic!("message {kind}"),
        1 => v[kind as usize + 5],
        2 => "x".parse::<u32>().unwrap(),
        3 => panic::panic_any(42i32),
        4 => 10 / (kind - 4),
        _ => 7,
    }
}

fn main() {
    panic::set_hook(Box::new(|info| println!("hook: {}", info.location().is_some())));
    for kind in 0..6 {
        match panic::catch_unwind(|| fails(kind)) {
            Ok(v) => println!("value {v}"),
            Err(e) => match (e.downcast_ref::<String>(), e.downcast_ref::<&str>(), e.downcast_ref::<i32>()) {
                (Some(s), _, _) => println!("string {s}"),
                (_, Some(s), _) => println!("str {s}"),
                (_, _, Some(n)) => println!("number {n}"),
                _ => println!("other"),
            },
        }
    }
}
