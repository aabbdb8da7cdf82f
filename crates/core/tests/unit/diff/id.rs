use super::*;

#[test]
fn uuids() {
    let text = "3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5e6f";
    assert_eq!(uuid(text), Some(36));
    assert_eq!(uuid(&text.to_uppercase()), Some(36));
    assert_eq!(uuid(&format!("{text}.")), Some(36));
    assert_eq!(uuid(&format!("{text}0")), None);
    assert_eq!(uuid(&text[1..]), None);
    assert_eq!(uuid("3f2b8c1e-9d4a-4f6b-8e7c-1a2b3c4d5eéé"), None);
}

#[test]
fn random_ids() {
    for (recorded, actual) in [
        ("9f86d081", "1c4768a2"),
        ("507f1f77bcf86cd799439011", "507f1f77bcf86cd799439012"),
        ("V1StGXR8_Z5jdHi6B-myT", "qL0x_7Hn2-Pw9vKd3RtYb"),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"),
        ("k3j5h2l9x0", "8sdf9sd8f7a2"),
        ("1179384756102938475", "1179384756102991024"),
        ("aKxPqWzRtYbNmLsD", "QwErTyUiOpAsDfGh"),
        ("cjld2cjxh0000qzrmn831i7rn", "cjld2cyuq0000t3rmniod1foy"),
    ] {
        assert!(
            random_pair(recorded, actual, false).is_some(),
            "{recorded} {actual}"
        );
    }
    for (recorded, actual) in [
        ("abc123", "def456"),
        ("100234", "100471"),
        ("abcd1234", "wxyz5678"),
    ] {
        assert!(
            random_pair(recorded, actual, true).is_some(),
            "{recorded} {actual}"
        );
        assert!(
            random_pair(recorded, actual, false).is_none(),
            "{recorded} {actual}"
        );
    }
}

#[test]
fn words_are_not_random() {
    for (recorded, actual) in [
        ("documents", "templates"),
        ("getCustomerOrders", "getCustomerEmails"),
        ("chapter12", "chapter13"),
        ("get_customer_by_email_v2", "set_customer_by_email_v3"),
        ("report2024", "budget2025"),
        ("12345678", "87654321"),
        ("SHORT", "LONG"),
        ("", "a"),
        ("settings", "profiles"),
    ] {
        for prefixed in [false, true] {
            if !(prefixed && recorded.starts_with('1')) {
                assert_eq!(
                    random_pair(recorded, actual, prefixed),
                    None,
                    "{recorded} {actual}"
                );
            }
        }
    }
}
