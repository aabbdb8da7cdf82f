use super::*;

#[test]
fn the_numbers_are_ascending_and_fit_into_the_set() {
    let numbers: Vec<u32> = Flag::ALL.iter().map(|flag| flag.number()).collect();
    assert!(numbers.is_sorted_by(|left, right| left < right));
    assert!(numbers.iter().all(|number| (1..=32).contains(number)));
    assert_eq!(Flags::CURRENT.numbers().collect::<Vec<_>>(), numbers);
    assert_eq!(Flags::NONE.numbers().count(), 0);
    assert!(Flag::ALL.iter().all(|flag| !flag.since().is_empty()));
}

#[test]
fn what_is_written_is_read() {
    for (flags, salt) in [
        (Flags::NONE, None),
        (Flags::CURRENT, Some("0f \"x\"\n".to_owned())),
    ] {
        let recorder = Recorder {
            version: "1.2.3 \"x\"\n".to_owned(),
            flags,
            salt,
        };
        let mut text = String::new();
        recorder.write(&mut text);
        assert_eq!(Recorder::read(&text, "recorder"), Ok(recorder), "{text}");
    }
}

#[test]
fn faults_name_their_place() {
    let faults = |text: &str| -> Vec<String> {
        let faults = Recorder::read(text, "recorder").unwrap_err();
        faults.iter().map(ToString::to_string).collect()
    };
    let newer = "recorder.flags.1: unknown replay flag 4000000000: recorded by a newer version, update agent-rewind to replay it";
    assert_eq!(faults(r#"{"version":"9","flags":[1,4000000000]}"#), [newer]);
    assert_eq!(
        faults(r#"{"version":1,"flags":["1",0,-1,1.5]}"#),
        [
            "recorder.flags.0: expected the number of a replay flag",
            "recorder.flags.1: expected the number of a replay flag",
            "recorder.flags.2: expected the number of a replay flag",
            "recorder.flags.3: expected the number of a replay flag",
            "recorder.version: expected a string",
        ]
    );
    assert_eq!(
        faults("{}"),
        [
            "recorder.version: expected a string",
            "recorder.flags: expected a list of numbers"
        ]
    );
    assert_eq!(faults("[]"), ["recorder: expected an object"]);
}
