//! Checked, wrapping and saturating arithmetic of every width; 128 bits; bit operations.
fn main() {
    let values = [0i64, 1, -1, 127, 128, -129, i32::MAX as i64, i32::MIN as i64, i64::MAX, i64::MIN];
    for a in values {
        for b in values {
            println!(
                "{:?} {} {} {:?} {} {}",
                a.checked_add(b), a.wrapping_mul(b), a.saturating_sub(b), (a as i32).checked_div(b as i32),
                (a as i8).wrapping_add(b as i8), (a as u16).rotate_left(b as u32 % 16)
            );
        }
    }
    let f: u128 = (1..=34).product();
    println!("{f} {} {} {}", f.leading_zeros(), f.count_ones(), f % 1_000_000_007);
    println!("{} {}", (-7i128).div_euclid(2), (i128::MAX / 3) as f64);
    println!("{} {} {}", 1e20f64 as i32, f64::NAN as u8, (-1.5f64) as u32);
}
