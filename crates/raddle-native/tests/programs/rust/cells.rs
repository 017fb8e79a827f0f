//! Rc, Weak, RefCell, Cell; a tree with parents; a double borrow is refused at run time.
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

struct Node { id: u32, visits: Cell<u32>, parent: RefCell<Weak<Node>>, children: RefCell<Vec<Rc<Node>>> }
impl Drop for Node { fn drop(&mut self) { println!("drop {} after {}", self.id, self.visits.get()); } }
fn node(id: u32) -> Rc<Node> { Rc::new(Node { id, visits: Cell::new(0), parent: RefCell::default(), children: RefCell::default() }) }

fn main() {
    let root = node(1);
    for i in 2..5 {
        let child = node(i);
        *child.parent.borrow_mut() = Rc::downgrade(&root);
        root.children.borrow_mut().push(child);
    }
    for c in root.children.borrow().iter() {
        let p = c.parent.borrow().upgrade().unwrap();
        p.visits.set(p.visits.get() + c.id);
    }
    println!("{} {} {}", root.visits.get(), Rc::strong_count(&root), Rc::weak_count(&root));
    let cell = RefCell::new(5);
    let first = cell.borrow_mut();
    println!("{}", cell.try_borrow().is_err());
    drop(first);
    println!("{}", cell.borrow());
}
