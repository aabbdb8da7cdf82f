use super::*;

#[test]
fn each_byte_at_each_place_of_a_word() {
    for byte in 0..=u8::MAX {
        for at in 0..20 {
            let mut bytes = [b'x'; 20];
            bytes[at] = byte;
            let wanted = if is_plain(byte) { 20 } else { at };
            assert_eq!(plain_run(&bytes, 0), wanted, "{byte:#x} at {at}");
        }
    }
}

#[test]
fn breaks_lines_as_python_does() {
    let mut out = Vec::new();
    let mut writer = PythonWriter::indented(Numbers::Source, 2, |bytes: &[u8]| {
        out.extend_from_slice(bytes);
    });
    writer.write(r#"{"a":[],"b":{},"c":[1,{"d":"[é]"}]}"#);
    writer.finish();
    let wanted = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"[\\u00e9]\"\n    }\n  ]\n}";
    assert_eq!(String::from_utf8(out).as_deref(), Ok(wanted));
}
