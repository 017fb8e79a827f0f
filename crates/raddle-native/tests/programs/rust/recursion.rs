//! Deep recursion, memoisation, backtracking.
fn ackermann(m: u64, n: u64) -> u64 { if m == 0 { n + 1 } else if n == 0 { ackermann(m - 1, 1) } else { ackermann(m - 1, ackermann(m, n - 1)) } }
fn permutations(v: &mut Vec<u8>, k: usize, out: &mut Vec<String>) {
    if k == v.len() { out.push(String::from_utf8(v.clone()).unwrap()); return }
    for i in k..v.len() { v.swap(k, i); permutations(v, k + 1, out); v.swap(k, i); }
}
fn sudoku(g: &mut [u8; 81]) -> bool {
    let Some(at) = g.iter().position(|c| *c == 0) else { return true };
    for d in 1..=9 {
        let (r, c) = (at / 9, at % 9);
        let free = (0..9).all(|i| g[r * 9 + i] != d && g[i * 9 + c] != d && g[(r / 3 * 3 + i / 3) * 9 + c / 3 * 3 + i % 3] != d);
        if free { g[at] = d; if sudoku(g) { return true } g[at] = 0; }
    }
    false
}

fn main() {
    println!("{}", ackermann(2, 300));
    let mut out = Vec::new();
    permutations(&mut b"abcde".to_vec(), 0, &mut out);
    println!("{} {} {}", out.len(), out[77], out.last().unwrap());
    let text = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
    let mut g = [0; 81];
    for (c, b) in g.iter_mut().zip(text.bytes()) { *c = b - b'0'; }
    println!("{} {:?}", sudoku(&mut g), &g[..18]);
}
