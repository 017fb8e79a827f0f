//! thread_local variables of the main thread: const and lazy, with a destructor.
use std::cell::{Cell, RefCell};

struct Loud(u32);
impl Drop for Loud { fn drop(&mut self) { println!("drop {}", self.0); } }
thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(5) };
    static NAMES: RefCell<Vec<String>> = RefCell::new(vec!["first".into()]);
    static LOUD: Loud = Loud(9);
}

fn main() {
    COUNT.with(|c| c.set(c.get() * 3));
    NAMES.with_borrow_mut(|n| n.push(format!("second {}", COUNT.get())));
    println!("{:?} {}", NAMES.take(), LOUD.with(|l| l.0));
}
