//! What is claimed, and whether it was measured so.

/// The claims so far.
#[derive(Default)]
pub(crate) struct Claims {
    lines: Vec<(bool, String)>,
}

impl Claims {
    /// Records a claim and says whether it holds.
    pub(crate) fn add(&mut self, holds: bool, claim: String) -> &'static str {
        self.lines.push((holds, claim));
        verdict(holds)
    }

    pub(crate) fn print(&self) {
        println!("Summary of all claims");
        println!("---------------------");
        for (holds, claim) in &self.lines {
            println!("  {:<14}  {claim}", verdict(*holds));
        }
        let held = self.lines.iter().filter(|line| line.0).count();
        println!("  {held} of {} hold", self.lines.len());
    }
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "DOES NOT HOLD" }
}
