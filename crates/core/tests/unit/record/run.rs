use super::*;

fn text(json: &str) -> JsonText {
    JsonText::trusted(json.to_owned())
}

fn new_frame(call_id: &str, agent_id: &str) -> NewFrame {
    NewFrame {
        within: None,
        call_id: JsonStr::from_plain(call_id),
        agent_id: JsonStr::from_plain(agent_id),
        input_hash: None,
        generation: 0,
        props: None,
        memory: Memory::default(),
        earlier: VectorSync::new_sync(),
        budget: Budget::default(),
        handled: false,
        recorded: None,
        replays: None,
    }
}

fn begin(run: &mut Run, path: &FramePath, hash: &str) -> Option<CallSlot> {
    let hash = RequestHash::from_json_str(JsonStr::from_plain(hash));
    let (kind, call_id) = (Kind::Tool, JsonStr::from_plain("id"));
    let outcome = Outcome::Pending;
    let call = NewCall {
        within: None,
        kind,
        hash,
        call_id,
        outcome,
        request: None,
        data: CallData::default(),
        replays: None,
        start: None,
    };
    run.begin_call(path, call)
}

fn output(value: Value) -> Ended {
    Ended {
        outcome: Outcome::Output(value),
        data: CallData::default(),
    }
}

#[test]
fn a_dump_never_changes() {
    let mut run = Run::new(new_frame("root", ""));
    let root = FramePath::default();
    let child = run
        .open_frame(&root, new_frame("root/agent:a:0", "a"))
        .unwrap();
    let slot = begin(&mut run, &child, "h").unwrap();
    let before = run.snapshot();
    assert!(run.end_call(&child, slot, output(Value::plain(text("1")))));
    run.set_memory(&child, JsonStr::from_plain("k"), text("2"), false);
    assert!(run.end_frame(&child, State::Completed(Value::plain(text("3"))), None));
    let frozen = before.generation.children.get(0).unwrap();
    assert_eq!(
        frozen.generation.calls.get(0).unwrap().outcome,
        Outcome::Pending
    );
    assert!(frozen.memory.is_empty());
    assert!(frozen.is_running());
    let now = run.frame(&child).unwrap();
    assert_eq!(now.state, State::Completed(Value::plain(text("3"))));
    assert_eq!((now.start, now.end), (Some(1), Some(4)));
}

#[test]
fn nothing_is_journaled_in_a_frame_that_the_end_of_its_parent_cut_off() {
    let mut run = Run::new(new_frame("root", ""));
    let root = FramePath::default();
    let child = run.open_frame(&root, new_frame("c", "a")).unwrap();
    let grandchild = run.open_frame(&child, new_frame("g", "b")).unwrap();
    let slot = begin(&mut run, &grandchild, "h").unwrap();
    assert!(run.end_frame(&child, State::Completed(Value::undefined()), None));
    assert!(!run.end_call(&grandchild, slot, output(Value::undefined())));
    assert_eq!(begin(&mut run, &grandchild, "h2"), None);
    assert_eq!(run.open_frame(&grandchild, new_frame("x", "x")), None);
    let orphan = run.frame(&grandchild).unwrap();
    assert!(
        matches!(&orphan.state, State::Failed(Some(error)) if error.as_str().contains("parent agent"))
    );
}

#[test]
fn calls_of_an_ended_frame_are_journaled_until_the_run_ends() {
    let mut run = Run::new(new_frame("root", ""));
    let root = FramePath::default();
    let child = run.open_frame(&root, new_frame("c", "a")).unwrap();
    let grandchild = run.open_frame(&child, new_frame("g", "b")).unwrap();
    let slot = begin(&mut run, &grandchild, "h").unwrap();
    assert!(run.end_frame(&grandchild, State::Failed(None), None));
    assert!(run.end_frame(&child, State::Completed(Value::undefined()), None));
    assert!(run.end_call(&grandchild, slot, output(Value::undefined())));
    let late = begin(&mut run, &grandchild, "h2").unwrap();
    assert_eq!(run.open_frame(&grandchild, new_frame("x", "x")), None);
    let ended = run.frame(&grandchild).unwrap();
    let calls: Vec<_> = ended.generation.calls.iter().collect();
    assert_eq!((calls[0].start, calls[0].end), (3, Some(6)));
    assert_eq!((calls[1].start, ended.end), (7, Some(4)));
    assert!(run.end_frame(&root, State::Completed(Value::undefined()), None));
    assert!(!run.end_call(&grandchild, late, output(Value::undefined())));
    assert_eq!(begin(&mut run, &root, "h3"), None);
}

#[test]
fn a_rebirth_closes_the_generation() {
    let mut run = Run::new(new_frame("c", "a"));
    let frame = FramePath::default();
    let slot = begin(&mut run, &frame, "h").unwrap();
    let child = run.open_frame(&frame, new_frame("k", "b")).unwrap();
    run.set_memory(&frame, JsonStr::from_plain("n"), text("0"), true);
    run.set_memory(&frame, JsonStr::from_plain("n"), text("1"), false);
    assert!(run.next_generation(&frame, None));
    assert!(run.end_call(&frame, slot, output(Value::undefined())));
    assert_eq!(begin(&mut run, &child, "h"), None);
    let now = run.frame(&frame).unwrap();
    let key = JsonStr::from_plain("n");
    assert_eq!(now.earlier.len(), 1);
    assert_eq!(
        now.earlier
            .get(0)
            .unwrap()
            .memory
            .as_ref()
            .unwrap()
            .get(&key),
        Some(&text("0"))
    );
    assert_eq!(
        now.generation.memory.as_ref().unwrap().get(&key),
        Some(&text("1"))
    );
    assert_eq!(now.generation.id, 1);
    assert!(
        run.frame(&child).is_some(),
        "a frame of an earlier generation can still be read"
    );
}

#[test]
fn usage_reaches_every_frame_above() {
    let mut run = Run::new(new_frame("root", ""));
    let root = FramePath::default();
    let child = run.open_frame(&root, new_frame("c", "a")).unwrap();
    let delta = Usage {
        total_tokens: 5.0,
        call_count: 1.0,
        ..Usage::default()
    };
    assert!(run.add_usage(&child, &delta));
    let total = |path: &FramePath| {
        run.frame(path)
            .unwrap()
            .budget
            .aggregate
            .total_tokens
            .to_bits()
    };
    assert_eq!(total(&root), 5.0_f64.to_bits());
    assert_eq!(total(&child), 5.0_f64.to_bits());
    assert_eq!(
        run.frame(&root).unwrap().budget.own.call_count.to_bits(),
        0.0_f64.to_bits()
    );
    assert_eq!(
        run.frame(&child).unwrap().budget.own.call_count.to_bits(),
        1.0_f64.to_bits()
    );
}
