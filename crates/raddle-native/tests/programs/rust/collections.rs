//! Vec, VecDeque, BTreeMap, BTreeSet, BinaryHeap, LinkedList.
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

fn main() {
    let mut m = BTreeMap::new();
    for i in 0..500u64 { m.entry(i * i % 97).or_insert_with(Vec::new).push(i); }
    println!("{} {:?} {:?}", m.len(), m.first_key_value().map(|e| e.1.len()), m.range(40..50).map(|e| *e.0).collect::<Vec<_>>());
    let s: BTreeSet<_> = m.keys().copied().filter(|k| k % 2 == 0).collect();
    let t: BTreeSet<_> = (10..30).collect();
    println!("{:?}", s.intersection(&t).collect::<Vec<_>>());
    let mut h: BinaryHeap<_> = (0..50).map(|i| i * 37 % 51).collect();
    let top: Vec<_> = std::iter::from_fn(|| h.pop()).take(10).collect();
    let mut d: VecDeque<i32> = VecDeque::new();
    for i in 0..40 { if i % 3 == 0 { d.push_front(i) } else { d.push_back(i) } if i % 4 == 0 { d.pop_back(); } }
    let mut l: LinkedList<_> = d.iter().copied().collect();
    let tail = l.split_off(5);
    println!("{top:?} {d:?} {} {:?}", l.len(), tail.back());
    let mut v: Vec<i32> = (0..30).collect();
    v.retain(|x| x % 3 != 0);
    v.dedup_by_key(|x| *x / 4);
    v.splice(1..3, [100, 200, 300]);
    println!("{v:?} {:?}", v.drain(2..5).collect::<Vec<_>>());
}
