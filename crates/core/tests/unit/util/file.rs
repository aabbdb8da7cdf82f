use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("agent-rewind-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_lock_has_one_owner() {
    let folder = folder("lock");
    let path = folder.join("a.lock");
    fs::write(
        &path,
        "left by a dead process, and longer than the next text",
    )
    .unwrap();
    let lock = FileLock::try_lock(&path, "first").unwrap().unwrap();
    assert!(FileLock::try_lock(&path, "second").unwrap().is_none());
    #[cfg(unix)]
    assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    drop(lock);
    assert!(!cfg!(unix) || !path.exists());
    assert!(FileLock::try_lock(&path, "second").unwrap().is_some());
    let error = FileLock::try_lock(&folder.join("none").join("a"), "").unwrap_err();
    assert_eq!(error.syscall, "open");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn writes_texts_in_order() {
    let folder = folder("sink");
    for pieces in [0, 1, 2, 3, 1_000] {
        let path = folder.join(pieces.to_string());
        let mut text = String::new();
        let mut wanted = String::new();
        replace_file(&path, &path.with_extension("tmp"), |file| {
            let mut sink = Sink::new(file);
            for piece in 0..pieces {
                text.push_str(&format!("{piece} ").repeat(piece));
                wanted.push_str(&text);
                sink.push(&mut text);
                assert_eq!(text, "");
            }
            sink.finish()
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{pieces}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Writing to `/dev/full` always fails.
#[test]
#[cfg(target_os = "linux")]
fn reports_a_failure_of_either_thread() {
    for pieces in 1..5 {
        let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut sink = Sink::new(&mut full);
        for _ in 0..pieces {
            sink.push(&mut "text".repeat(10_000));
        }
        let error = sink.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{pieces}");
    }
}

#[test]
fn a_failure_leaves_the_file_as_it_was() {
    let folder = folder("replace");
    let (path, temporary) = (folder.join("a"), folder.join(".a.tmp"));
    replace_file(&path, &temporary, |file| file.write_all(b"old")).unwrap();
    let full = |_: &mut File| Err(io::Error::from(io::ErrorKind::StorageFull));
    let error = replace_file(&path, &temporary, full).unwrap_err();
    assert_eq!(error.syscall, "write");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert!(!temporary.exists());
    let missing = folder.join("none").join("b");
    let error = replace_file(&missing, &missing.with_extension("tmp"), |_| Ok(())).unwrap_err();
    assert_eq!(
        (error.syscall, error.source.kind()),
        ("open", io::ErrorKind::NotFound)
    );
    fs::remove_dir_all(&folder).unwrap();
}
