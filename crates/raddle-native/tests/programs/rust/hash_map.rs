//! HashMap and HashSet: the hasher has random keys, so only results that do not depend on the order are printed.
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

fn main() {
    let mut m: HashMap<String, Vec<u32>> = HashMap::new();
    for i in 0..2000 { m.entry(format!("key{}", i * i % 353)).or_default().push(i); }
    let mut keys: Vec<_> = m.iter().map(|(k, v)| (v.len(), k.clone())).collect();
    keys.sort();
    println!("{} {:?}", m.len(), &keys[keys.len() - 3..]);
    m.retain(|_, v| v.len() > 6);
    println!("{} {}", m.len(), m.values().flatten().map(|x| u64::from(*x)).sum::<u64>());
    let a: HashSet<i32> = (0..50).collect();
    let b: HashSet<i32> = (25..75).collect();
    println!("{} {} {}", a.union(&b).count(), a.difference(&b).count(), a.is_disjoint(&b));
    let mut h = DefaultHasher::new();
    ("text", 5, [1u8, 2]).hash(&mut h);
    println!("{:x}", h.finish());
}
