//! Operator traits, associated types, const generics, iterators of one's own, Default and ordering derives.
use std::collections::HashSet;
use std::ops::{Add, Index, Mul};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Mod<const M: u64>(u64);
impl<const M: u64> Add for Mod<M> { type Output = Self; fn add(self, o: Self) -> Self { Mod((self.0 + o.0) % M) } }
impl<const M: u64> Mul for Mod<M> { type Output = Self; fn mul(self, o: Self) -> Self { Mod(self.0 * o.0 % M) } }
struct Matrix<T, const N: usize>([[T; N]; N]);
impl<T, const N: usize> Index<(usize, usize)> for Matrix<T, N> { type Output = T; fn index(&self, i: (usize, usize)) -> &T { &self.0[i.0][i.1] } }
impl<T: Copy + Default + Add<Output = T> + Mul<Output = T>, const N: usize> Matrix<T, N> {
    fn times(&self, o: &Self) -> Self {
        let mut r = [[T::default(); N]; N];
        for i in 0..N { for k in 0..N { for j in 0..N { r[i][k] = r[i][k] + self[(i, j)] * o[(j, k)]; } } }
        Matrix(r)
    }
}
struct Collatz(u64);
impl Iterator for Collatz { type Item = u64; fn next(&mut self) -> Option<u64> { if self.0 == 1 { return None } self.0 = if self.0 % 2 == 0 { self.0 / 2 } else { 3 * self.0 + 1 }; Some(self.0) } }

fn main() {
    let fib = Matrix([[Mod::<1_000_003>(1), Mod(1)], [Mod(1), Mod(0)]]);
    let mut p = Matrix([[Mod(1), Mod(0)], [Mod(0), Mod(1)]]);
    for _ in 0..90 { p = p.times(&fib); }
    println!("{:?} {}", p[(0, 1)], Collatz(27).count());
    let s: HashSet<_> = (0..100).map(|i| Mod::<7>(i % 7)).collect();
    println!("{} {:?}", s.len(), s.iter().max());
}
