//! Stable and unstable sorting, selection, binary search, of numbers, strings and keys.
fn main() {
    let mut seed = 12345u64;
    let mut next = || { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; seed };
    let mut v: Vec<u64> = (0..20_000).map(|_| next() % 100_000).collect();
    let mut w = v.clone();
    v.sort();
    w.sort_unstable();
    println!("{} {:?}", v == w, &v[..5]);
    let mut records: Vec<(u32, String)> = (0..3000).map(|i| ((next() % 50) as u32, format!("r{i}"))).collect();
    records.sort_by_key(|r| r.0);
    println!("{}", records.windows(2).all(|p| p[0].0 < p[1].0 || p[0].1[1..].parse::<u32>().ok() < p[1].1[1..].parse::<u32>().ok()));
    let mut f: Vec<f64> = (0..500).map(|_| (next() % 1000) as f64 / 7.0).collect();
    f.sort_by(|a, b| b.partial_cmp(a).unwrap());
    println!("{:.5} {:.5} {:?}", f[0], f[499], v.binary_search(&50_000).is_ok());
    println!("{:?} {}", w.select_nth_unstable(777).1, v.partition_point(|x| *x < 1000));
    let mut s: Vec<&str> = "zeta alpha Mu beta gamma Alpha".split(' ').collect();
    s.sort_by_cached_key(|t| t.to_lowercase());
    println!("{s:?}");
}
