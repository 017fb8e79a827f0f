//! Adapters of iterators, lazily combined.
fn main() {
    let v: Vec<i64> = (1..=40).collect();
    let r: i64 = v.iter().filter(|x| *x % 3 == 0).map(|x| x * x).zip(v.iter().rev().step_by(2)).map(|(a, b)| a - b).sum();
    println!("{r} {:?}", v.chunks(7).map(|c| c.iter().product::<i64>() % 1009).collect::<Vec<_>>());
    println!("{:?}", v.windows(3).filter(|w| w.iter().sum::<i64>() % 5 == 0).count());
    let words = "the quick brown fox jumps over the lazy dog";
    let mut lens: Vec<_> = words.split(' ').map(|w| (w.len(), w)).collect();
    lens.sort_by(|a, b| b.cmp(a));
    println!("{lens:?}");
    println!("{:?}", words.chars().scan(0u32, |s, c| { *s = s.wrapping_mul(31) + c as u32; Some(*s) }).last());
    println!("{:?}", (1..20).flat_map(|i| (0..i).rev().take(2)).skip_while(|x| *x < 5).take_while(|x| *x < 15).collect::<Vec<_>>());
    let (even, odd): (Vec<i64>, Vec<i64>) = v.iter().partition(|x| **x % 2 == 0);
    println!("{} {} {:?} {:?}", even.len(), odd[3], v.iter().max_by_key(|x| **x % 11), v.iter().position(|x| *x == 17));
    println!("{:?}", "1,2,x,4".split(',').map(str::parse::<i32>).collect::<Result<Vec<_>, _>>().is_err());
    println!("{}", std::iter::successors(Some(1u64), |x| x.checked_mul(3)).map(|x| x.to_string()).collect::<Vec<_>>().join(" "));
}
