use super::*;

#[test]
fn each_type_has_a_family_and_a_phase() {
    for (name, family, phase) in [
        ("agent:start", Family::Agent, Phase::Start),
        ("agent:reborn", Family::Reborn, Phase::Single),
        ("tool:call:end", Family::Tool, Phase::End),
        ("budget:update", Family::Budget, Phase::Single),
        ("my:own:start", Family::Other, Phase::Start),
        ("sys:log", Family::Other, Phase::Single),
    ] {
        assert_eq!(
            EventKind::from_type(name),
            EventKind { family, phase },
            "{name}"
        );
    }
}

#[test]
fn the_fields_of_a_type_fit_into_a_mask() {
    for base in [
        "runWith",
        "agent",
        "generation",
        "turn",
        "tool:call",
        "call",
    ] {
        let [start, end] =
            ["start", "end"].map(|phase| restored_fields(&format!("{base}:{phase}")));
        assert_eq!(start.always, start.names.len(), "{base}");
        assert!(end.names.len() <= 32 && end.always <= end.names.len());
        // An end always contains the outcome, and otherwise repeats the start.
        let (always, repeated) = end.names.split_at(end.always);
        assert!(always.contains(&"success") && always.contains(&"error"));
        assert!(
            repeated.iter().all(|name| start.names.contains(name)),
            "{repeated:?}"
        );
    }
    assert_eq!(restored_fields("sys:log").names, [""; 0]);
}
