//! Checks JSON against a JSON Schema: as much of draft 4 as the schema of SARIF uses. A keyword that is not known here fails the
//! check, so that nothing is left out unseen.

use serde_json::{Map, Value};

/// The schema of SARIF 2.1.0.
pub(crate) fn sarif() -> Value {
    serde_json::from_str(include_str!("sarif-2.1.0-rtm.5.json")).expect("it is JSON")
}

/// What is wrong with a value, each with its place.
pub(crate) fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = schema.as_object().expect("a schema is an object");
    if let Some(name) = schema.get("$ref") {
        let pointer =
            name.as_str().and_then(|name| name.strip_prefix('#')).expect("a reference into the schema itself");
        return check(root, root.pointer(pointer).expect("it is there"), value, at, found);
    }
    for (keyword, rule) in schema {
        let mut fail = |words: String| found.push(format!("{at}: {words}"));
        match keyword.as_str() {
            "$schema" | "id" | "title" | "description" | "default" | "definitions" | "additionalProperties" => {}
            "type" => {
                let is_right = match rule.as_str().expect("one type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    other => panic!("the type {other}"),
                };
                if !is_right {
                    fail(format!("{value} is no {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().expect("a list").contains(value) {
                    fail(format!("{value} is none of {rule}"));
                }
            }
            "required" => {
                for name in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|object| !object.contains_key(name)) {
                        fail(format!("there is no `{name}`"));
                    }
                }
            }
            "minimum" | "maximum" => {
                if let (Some(number), Some(bound)) = (value.as_f64(), rule.as_f64())
                    && (if keyword == "minimum" { number < bound } else { number > bound })
                {
                    fail(format!("{value} is beyond the {keyword} {rule}"));
                }
            }
            "minItems" => {
                if value.as_array().is_some_and(|list| (list.len() as u64) < rule.as_u64().expect("a number")) {
                    fail(format!("fewer than {rule} items"));
                }
            }
            "uniqueItems" => {
                let list = value.as_array().map_or(&[][..], Vec::as_slice);
                if list.iter().enumerate().any(|(index, item)| list[..index].contains(item)) {
                    fail("items that are the same".to_owned());
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{index}"), found);
                }
            }
            "properties" => properties(root, schema, rule, value, at, found),
            "anyOf" | "oneOf" => {
                let fits = |choice: &&Value| {
                    let mut mistakes = Vec::new();
                    check(root, choice, value, at, &mut mistakes);
                    mistakes.is_empty()
                };
                let count = rule.as_array().expect("a list").iter().filter(fits).count();
                if count == 0 || keyword == "oneOf" && count > 1 {
                    fail(format!("{count} of {keyword} fit"));
                }
            }
            "format" => {
                let Some(text) = value.as_str() else { continue };
                let is_uri_letter =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(byte);
                let is_right = match rule.as_str() {
                    Some("uri" | "uri-reference") => text.as_bytes().iter().all(is_uri_letter),
                    other => panic!("the format {other:?}"),
                };
                if !is_right || rule == "uri" && !text.contains(':') {
                    fail(format!("{text} is no {rule}"));
                }
            }
            // None of ours has one.
            other => panic!("the keyword {other} at {at}"),
        }
    }
}

fn properties(
    root: &Value,
    schema: &Map<String, Value>,
    rules: &Value,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match (rules.get(name), schema.get("additionalProperties")) {
            (Some(rule), _) => check(root, rule, value, &at, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{at}: there is no such property")),
            (None, Some(rule @ Value::Object(_))) => check(root, rule, value, &at, found),
            (None, _) => {}
        }
    }
}
