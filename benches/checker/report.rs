//! Where the numbers go: tables and a summary of the claims for people, or a JSON object for each row
//! of a table and for each claim.

use serde_json::{Map, Value, json};

use crate::table::Table;

/// What was measured, and what is claimed and whether it was measured so.
pub(crate) struct Report {
    json: bool,
    experiment: &'static str,
    claims: Vec<(bool, String)>,
}

impl Report {
    pub(crate) fn new(json: bool) -> Report {
        Report { json, experiment: "", claims: vec![] }
    }

    /// From here on, everything belongs to this experiment.
    pub(crate) fn start(&mut self, experiment: &'static str) {
        self.experiment = experiment;
    }

    /// Prints a line for people.
    pub(crate) fn say(&self, line: &str) {
        if !self.json {
            println!("{line}");
        }
    }

    /// Prints a table, or its rows with the heads of the columns as keys.
    pub(crate) fn table(&self, title: &str, table: &Table) {
        if !self.json {
            println!("{title}");
            return table.print();
        }
        for row in table.values() {
            let mut object = Map::from_iter([
                ("experiment".to_owned(), json!(self.experiment)),
                ("table".to_owned(), json!(title)),
            ]);
            object.extend(row);
            println!("{}", Value::Object(object));
        }
    }

    /// Records a claim and says whether it holds.
    pub(crate) fn claim(&mut self, holds: bool, claim: String) -> &'static str {
        if self.json {
            let experiment = self.experiment;
            println!("{}", json!({"experiment": experiment, "claim": claim, "holds": holds}));
        }
        self.claims.push((holds, claim));
        verdict(holds)
    }

    /// Prints the summary.
    pub(crate) fn finish(&self) {
        self.say("Summary of all claims");
        self.say("---------------------");
        for (holds, claim) in &self.claims {
            self.say(&format!("  {:<14}  {claim}", verdict(*holds)));
        }
        let held = self.claims.iter().filter(|line| line.0).count();
        self.say(&format!("  {held} of {} hold", self.claims.len()));
    }
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "DOES NOT HOLD" }
}
