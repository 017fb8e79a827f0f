//! Formatting and parsing of floating-point numbers: shortest representation, precision, exponents.
fn main() {
    let values = [0.0, -0.0, 1.0, 0.1, 1.0 / 3.0, 1e21, 1e-7, 123456789.125, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN];
    for v in values {
        println!("{v} {v:?} {v:.3} {v:e} {v:+} {v:12.4}| {v:<12.2}| {v:^12.1}| {v:012.3}");
        println!("{} {:?} {:.2e}", v as f32, v as f32, v as f32);
    }
    for t in ["1.5", "-1e10", "inf", "nan", ".5", "5.", "1e400", "0.1000000000000000055511151231257827", "x", ""] {
        println!("{t:?} {:?} {:?}", t.parse::<f64>(), t.parse::<f32>().ok());
    }
    println!("{:?}", values.iter().map(|v| v.to_bits() % 1000).collect::<Vec<_>>());
}
