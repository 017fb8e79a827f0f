//! Scatter plots with two logarithmic axes, as SVG.

use std::fmt::Write;

/// A program: what was measured of it twice.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Whether the second one has fewer classes.
    pub(crate) fewer: bool,
}

/// A plot. Points below the diagonal are better by the second measure.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) points: Vec<Point>,
}

/// The length of an axis, and the space around.
const SIDE: f64 = 400.0;
const MARGIN: f64 = 50.0;

impl Plot {
    /// The plot as a file.
    pub(crate) fn svg(&self) -> String {
        let (low, high) = self.decades();
        let scale = |value: f64| SIDE * (value.log10() - low) / (high - low);
        let all = SIDE + 2.0 * MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"{all}\" \
             font-family=\"sans-serif\" font-size=\"10\">\n\
             <rect width=\"{all}\" height=\"{all}\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"20\" font-size=\"14\">{}</text>\n",
            self.title
        );
        for decade in low as i32..=high as i32 {
            tick(&mut svg, decade, scale(10_f64.powi(decade)));
        }
        for factor in [0.1, 1.0, 10.0] {
            diagonal(&mut svg, factor, 10_f64.powf(low), 10_f64.powf(high), &scale);
        }
        for point in &self.points {
            let color = if point.fewer { "green" } else { "blue" };
            let (x, y) = (MARGIN + scale(point.x), MARGIN + SIDE - scale(point.y));
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\" fill-opacity=\"0.6\"/>"
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The powers of ten between which all points are.
    fn decades(&self) -> (f64, f64) {
        let all = || self.points.iter().flat_map(|point| [point.x, point.y]);
        let low = all().fold(f64::INFINITY, f64::min).log10().floor();
        let high = all().fold(0.0, f64::max).log10().ceil();
        if low < high { (low, high) } else { (0.0, 1.0) }
    }
}

/// A line for a power of ten, on both axes.
fn tick(svg: &mut String, decade: i32, at: f64) {
    let (x, y) = (MARGIN + at, MARGIN + SIDE - at);
    let end = MARGIN + SIDE;
    let _ = writeln!(
        svg,
        "<path d=\"M{x:.1} {MARGIN}V{end}M{MARGIN} {y:.1}H{end}\" stroke=\"#ddd\"/>\n\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">1e{decade}</text>\n\
         <text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">1e{decade}</text>",
        end + 14.0,
        MARGIN - 4.0,
    );
}

/// Where the second measure is so many times the first one.
fn diagonal(svg: &mut String, factor: f64, low: f64, high: f64, scale: &impl Fn(f64) -> f64) {
    let (from, to) = (low.max(low / factor), high.min(high / factor));
    let place = |x: f64| (MARGIN + scale(x), MARGIN + SIDE - scale(x * factor));
    let ((x1, y1), (x2, y2)) = (place(from), place(to));
    let opacity = if factor == 1.0 { 1.0 } else { 0.3 };
    let _ = writeln!(
        svg,
        "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"red\" stroke-opacity=\"{opacity}\"/>"
    );
}
