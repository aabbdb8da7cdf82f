use super::*;

fn model(name: &str, prompt: u32) -> String {
    format!(
        r#"{{"promptTokens":{prompt},"completionTokens":2,"totalTokens":{},"callCount":1,"costs":{{"usd":0.5,"eur":1}},"details":{{"cached":1,"note":"x"}},"items":[{{"type":"model","name":"{name}","provider":"p","costs":{{"usd":0.5}},"tokens":{{"prompt":{prompt},"completion":2,"total":{},"details":{{"cached":1}}}}}}]}}"#,
        prompt + 2,
        prompt + 2,
    )
}

fn tool(unit: &str, details: &str) -> String {
    format!(
        r#"{{"costs":{{"usd":1}},"promptTokens":0,"completionTokens":0,"totalTokens":0,"callCount":0,"items":[{{"type":"tool","name":"search","costs":{{"usd":1}},"quantity":1.5,"unit":"{unit}","details":{details}}}]}}"#
    )
}

fn items_of(usage: &str) -> &str {
    usage.split_once(r#""items":"#).unwrap().1
}

fn written(usage: &Usage) -> String {
    let mut text = String::new();
    usage.write_json(&mut text);
    text
}

#[test]
fn adds_up_to_the_same_as_usage() {
    let mut updates = vec![
        model("a", 10),
        model("b", 3),
        model("a", 5),
        tool("page", r#"{"x":1,"y":2}"#),
    ];
    updates.extend([
        tool("page", r#"{"y":2,"x":1}"#),
        tool("byte", "null"),
        model("\\u0061", 1),
    ]);
    updates.extend((0..20).map(|number| model(&format!("m{number}"), number)));
    updates.extend((0..20).map(|number| model(&format!("m{number}"), number)));
    let mut sum = UsageSum::default();
    let mut halves = [UsageSum::default(), UsageSum::default()];
    let mut usage = Usage::default();
    for (position, update) in updates.iter().enumerate() {
        let mut one = UsageSum::default();
        one.add_json(update).unwrap();
        one.set_order(position as u64);
        sum.add(&one);
        halves[position * 2 / updates.len()].add(&one);
        usage.add(&Usage::read(update, "delta").unwrap());
    }
    assert_eq!(written(&sum.to_usage()), written(&usage));
    let [first, second] = halves;
    let [backwards, forwards] = [(&second, &first), (&first, &second)].map(|(one, other)| {
        let mut sum = one.clone();
        sum.add(other);
        written(&sum.to_usage())
    });
    assert_eq!(forwards, written(&usage));
    assert_eq!(
        items_of(&backwards),
        items_of(&forwards),
        "the order of items does not depend on the order of addition"
    );
}

#[test]
fn other_values_than_usage_count_as_zero() {
    let mut sum = UsageSum::default();
    for text in [
        "{}",
        r#"{"items":{},"costs":[1],"promptTokens":"7"}"#,
        r#"{"items":[1,{"type":"model"},{"type":"x","name":"n"}]}"#,
    ] {
        sum.add_json(text).unwrap();
    }
    assert!(sum.add_json("[1]").is_err());
    assert_eq!(written(&sum.to_usage()), written(&Usage::default()));
}
