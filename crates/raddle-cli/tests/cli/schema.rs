//! A checker for the part of JSON Schema that `schema/result.json` uses.

use serde_json::Value;

/// The schema in the repository.
pub(crate) fn result_schema() -> Value {
    serde_json::from_str(include_str!("../../schema/result.json")).expect("a schema is JSON")
}

/// Fails if a value does not have the form that a schema demands.
pub(crate) fn assert_valid(schema: &Value, value: &Value) {
    if let Err(error) = check(schema, schema, value, "") {
        panic!("{error}\n{value:#}");
    }
}

type Checked = Result<(), String>;

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Checked {
    for (keyword, of) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$ref" => {
                let path =
                    of.as_str().and_then(|path| path.strip_prefix('#')).expect("a reference");
                check(root, root.pointer(path).expect("a definition"), value, at)?;
            }
            "anyOf" => {
                let all = of.as_array().expect("schemas").iter();
                let errors: Vec<String> =
                    all.clone().filter_map(|one| check(root, one, value, at).err()).collect();
                if errors.len() == all.len() {
                    return Err(format!("{at}: none of: {}", errors.join("; ")));
                }
            }
            "type" => check_type(of, value, at)?,
            "const" if of == value => {}
            "enum" if of.as_array().expect("values").contains(value) => {}
            "const" | "enum" => return Err(format!("{at}: {value} is not {of}")),
            "minimum" => {
                let (least, number) = (of.as_f64().expect("a number"), value.as_f64());
                if number.is_some_and(|number| number < least) {
                    return Err(format!("{at}: {value} is less than {of}"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, of, item, &format!("{at}/{index}"))?;
                }
            }
            "required" => {
                let mut names = of.as_array().expect("names").iter().filter_map(Value::as_str);
                if let Some(name) =
                    names.find(|name| value.is_object() && value.get(name).is_none())
                {
                    return Err(format!("{at}: {name} is missing"));
                }
            }
            "properties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    if let Some(of) = of.get(name) {
                        check(root, of, item, &format!("{at}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object().expect("properties");
                let mut names = value.as_object().into_iter().flatten().map(|(name, _)| name);
                if let Some(name) = names.find(|name| !known.contains_key(*name)) {
                    return Err(format!("{at}: {name} is not in the schema"));
                }
            }
            "$schema" | "title" | "description" | "definitions" => {}
            other => panic!("the checker does not know {other}"),
        }
    }
    Ok(())
}

fn check_type(of: &Value, value: &Value, at: &str) -> Checked {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the checker does not know the type {other}"),
    };
    let fits = match of {
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        name => is(name.as_str().expect("a type")),
    };
    if fits { Ok(()) } else { Err(format!("{at}: {value} has not the type {of}")) }
}

#[test]
fn what_is_not_in_the_schema_is_found() {
    let schema = result_schema();
    let error = |text: &str| {
        let value: Value = serde_json::from_str(text).expect("JSON");
        check(&schema, &schema["definitions"]["bug"], &value, "")
    };
    assert_eq!(error(r#"{"kind": "race", "message": "", "place": ""}"#), Ok(()));
    assert!(error(r#"{"kind": "race", "message": ""}"#).is_err_and(|it| it.contains("place")));
    assert!(error(r#"{"kind": 1, "message": "", "place": ""}"#).is_err());
    assert!(error(r#"{"kind": "race", "message": "", "place": "", "x": 1}"#).is_err());
}
