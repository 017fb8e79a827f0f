//! `--format`: JSON with its schema, SARIF, JUnit, DOT and HTML.

use serde_json::Value;

use super::schema::{assert_valid, result_schema};
use super::{raddle, run, scratch};

/// What a command prints in a format, with a program whose bug needs a store buffer.
fn printed(args: &str) -> String {
    let output = raddle(args).output().expect("raddle runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

const PETERSON: &str = "check examples/peterson.c --cc gcc --model tso --format";

#[test]
fn json_has_the_form_of_its_schema() {
    let schema = result_schema();
    for args in [
        "check examples/peterson.c --cc gcc --model sc,tso,pso,c20",
        "check corpus/c/errors/race.c corpus/c/errors/livelock.c --cc gcc --model c20",
        "check examples/peterson.c --cc gcc --model tso --robust",
        "check examples/store-buffering.litmus --model sc,tso",
        "check examples/peterson.c --cc gcc --model tso --explorer random",
        "check nothing.c",
        "bmc examples/peterson.c --model tso --cc gcc",
        "verify examples/store-buffering.txt --model sc,tso,rc11",
    ] {
        let output = raddle(&format!("{args} --format json")).output().expect("raddle runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<Value> = lines.inspect(|line| assert_valid(&schema, line)).collect();
        assert!(!lines.is_empty(), "{args}");
        assert!(lines.iter().all(|line| line["version"] == 2), "{args}");
    }
}

#[test]
fn the_trace_in_json_is_data() {
    let line: Value = serde_json::from_str(&printed(&format!("{PETERSON} json"))).expect("JSON");
    let trace = &line["bug"]["trace"];
    let names: Vec<&str> = trace["threads"]
        .as_array()
        .expect("threads")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["main", "run#1", "run#2"]);
    let events = trace["events"].as_array().expect("events");
    let last = events.iter().find(|event| event["role"] == "failure").expect("the last one");
    assert_eq!(last["operation"], "update");
    assert_eq!(last["object"], "inside");
    assert_eq!((&last["read"], &last["written"]), (&"1".into(), &"2".into()));
    assert_eq!(last["place"], "examples/peterson.c:22");
    assert_eq!(last["stack"][0]["function"], "run");
    let source = last["source"].as_u64().expect("an event") as usize;
    assert_eq!(
        (&events[source]["thread"], &events[source]["object"]),
        (&1.into(), &"inside".into())
    );
    assert_eq!(trace["order"], "store-buffers");
    let cycle: Vec<&str> = trace["cycle"]
        .as_array()
        .expect("a cycle")
        .iter()
        .filter_map(|it| it["relation"].as_str())
        .collect();
    assert!(cycle.contains(&"fr") && cycle.contains(&"po"), "{cycle:?}");
}

#[test]
fn sarif_has_results_with_a_flow_for_each_thread() {
    let log: Value = serde_json::from_str(&printed(&format!("{PETERSON} sarif"))).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "assertion");
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "assertion");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "examples/peterson.c");
    assert_eq!(location["region"]["startLine"], 23);
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    let ids: Vec<&str> = flows.iter().filter_map(|flow| flow["id"].as_str()).collect();
    assert_eq!(ids, ["main", "run#1", "run#2"]);
    let mut orders: Vec<u64> = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().expect("locations"))
        .filter_map(|location| location["executionOrder"].as_u64())
        .collect();
    orders.sort_unstable();
    assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>());
    assert!(orders.len() >= 10, "{orders:?}");
}

#[test]
fn sarif_says_what_was_not_explored() {
    let output =
        raddle("check corpus/c/tables/readers.c --cc gcc --max-executions 2 --format sarif");
    let output = { output }.output().expect("raddle runs");
    assert_eq!(output.status.code(), Some(3));
    let log: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let note = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(note["level"], "warning");
    let text = note["message"]["text"].as_str().expect("a text");
    assert!(text.contains("incomplete: the limit on executions was reached"), "{text}");
    assert_eq!(log["runs"][0]["results"], Value::Array(vec![]));
}

#[test]
fn junit_is_read_back_by_a_parser() {
    let args = "check examples/peterson.c --cc gcc --model sc,tso --format junit";
    let text = printed(args);
    let document = roxmltree::Document::parse(&text).expect("XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let suite = root.first_element_child().expect("a suite");
    for element in [root, suite] {
        let counts = ["tests", "failures", "errors"].map(|name| element.attribute(name));
        assert_eq!(counts, [Some("2"), Some("1"), Some("0")]);
        element.attribute("time").expect("a time").parse::<f64>().expect("a number");
    }
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["sc", "tso"]);
    let case = cases[1];
    let attributes = ["classname", "file", "line"].map(|name| case.attribute(name));
    assert_eq!(attributes, [Some("examples/peterson.c"), Some("examples/peterson.c"), Some("23")]);
    let failure = case.first_element_child().expect("a failure");
    assert_eq!(failure.attribute("type"), Some("assertion"));
    let message = failure.attribute("message").expect("a message");
    assert_eq!(message, "thread run#2: assertion failed: others == 0");
    assert!(failure.text().expect("a report").contains("(initial)"));
}

#[test]
fn dot_has_the_relations_of_the_execution() {
    let text = printed(&format!("{PETERSON} dot"));
    assert!(text.starts_with("digraph G {\n") && text.ends_with("}\n"), "{text}");
    for part in
        ["label=\"run#2\"", "W[turn]=1", "R[interested[0]]=0", "[label=\"po\"", "[label=\"rf\""]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let thick = text.lines().filter(|line| line.contains("penwidth=3"));
    let thick: Vec<&str> =
        thick.filter_map(|line| line.split("label=\"").nth(1)?.get(..2)).collect();
    assert!(thick.contains(&"fr") && thick.contains(&"po"), "the cycle is thick: {text}");
}

/// The page refers to nothing outside of it.
#[test]
fn html_is_one_file_with_the_execution_and_the_source() {
    let directory = scratch("html");
    let file = directory.join("page.html");
    let shown = run(&format!("{PETERSON} html --output {}", file.display()));
    assert_eq!(shown, "exit 1\n--- stdout\n--- stderr\n");
    let page = std::fs::read_to_string(&file).expect("a page");
    assert!(
        !page.contains("src=") && !page.contains("href=") && !page.contains("@import"),
        "{page}"
    );
    assert!(page.contains("default-src 'none'"));
    let data = page.split("type=\"application/json\">").nth(1).expect("data");
    let data = data.split("</script>").next().expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let result = &data["results"][0];
    assert_eq!((&result["kind"], &result["model"]), (&"assertion".into(), &"tso".into()));
    assert!(result["execution"]["steps"].as_array().expect("steps").len() >= 12);
    let lines = data["sources"]["examples/peterson.c"].as_array().expect("lines");
    assert!(lines[22].as_str().expect("a line").contains("assert(others == 0)"));
}

#[test]
fn histories_and_litmus_tests_have_all_formats() {
    for (args, status) in [
        ("verify examples/store-buffering.txt --model sc", 1),
        ("check examples/store-buffering.litmus --model tso", 0),
    ] {
        for (format, part) in [
            ("sarif", "\"2.1.0\""),
            ("junit", "<testcase"),
            ("dot", "W"),
            ("html", "store-buffering"),
        ] {
            let output =
                raddle(&format!("{args} --format {format}")).output().expect("raddle runs");
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(status), "{args} {format}: {text}");
            assert!(text.contains(part), "{args} {format}: {text}");
        }
    }
}

#[test]
fn formats_that_do_not_fit_are_refused() {
    let refused = |args: &str| {
        let text = run(args);
        assert!(text.starts_with("exit 2\n"), "{text}");
        text
    };
    assert!(refused("verify examples/store-buffering.txt --format herd").contains("litmus tests"));
    assert!(refused("bmc examples/peterson.c --format herd").contains("litmus tests"));
    assert!(refused("check examples/peterson.c --format herd").contains("litmus tests"));
    let overwrites =
        refused("verify examples/store-buffering.txt --output examples/store-buffering.txt");
    assert!(overwrites.contains("--output would overwrite"), "{overwrites}");
    let overwrites = refused("check examples/peterson.c --output examples/peterson.c");
    assert!(overwrites.contains("--output would overwrite"), "{overwrites}");
}
