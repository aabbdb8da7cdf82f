use super::*;

#[test]
fn dates_and_times() {
    for text in [
        "2026-11-28",
        "2026-11-28T10:15:30.123Z",
        "2026-11-28T10:15:30+01:00",
        "2026-11-28 10:15:30 UTC",
        "2026-11-28T10:15",
        "2026/11/28",
        "2026.11.28",
        "2026-11",
        "20261128",
        "20261128T101530Z",
        "11/28/2026",
        "11/28/2026, 9:05:07 PM",
        "11/28/2026, 9:05:07\u{202f}PM",
        "28.11.2026",
        "28.11.2026, 21:05:07",
        "11/28/26",
        "10:15",
        "10:15:30",
        "9:05 p.m.",
        "Sat Nov 28 2026",
        "Sat Nov 28 2026 10:15:30 GMT+0100",
        "Sat, 28 Nov 2026 10:15:30 GMT",
        "Saturday, November 28, 2026",
        "Saturday, November 28, 2026 at 9:05 PM",
        "November 28, 2026",
        "Nov. 28th, 2026",
        "28 November 2026",
        "28th of November",
        "28. November 2026",
        "28-Nov-2026",
        "Sept 5",
        "November 2026",
        "November",
        "Saturday",
        "1795977394",
        "1795977394.542",
        "1795977394381",
    ] {
        assert_eq!(length(text), Some(text.len()), "{text}");
        assert_eq!(length(&format!("{text}, then")), Some(text.len()), "{text}");
        assert_eq!(length(&format!("{text}x")), None, "{text}");
    }
}

#[test]
fn other_texts() {
    for text in [
        "",
        "1",
        "42",
        "2026",
        "1234567890",
        "12345678",
        "2026-13-01",
        "2026-1",
        "10:75",
        "3.11.4",
        "1.2.3.4",
        "may",
        "monday",
        "Mondayish",
        "Marketing",
        "Ma",
        "1795977394381000",
        "99999999999999999999",
        "gpt-4o",
        "Sunda",
        "-1795977394",
    ] {
        assert_eq!(length(text), None, "{text}");
    }
}

#[test]
fn epochs() {
    for (number, wanted) in [
        ("1795977394", true),
        ("1795977394381", true),
        ("1795977394.5", true),
        ("0", false),
        ("1234567890", false),
        ("-1795977394", false),
        ("1.795977394e+30", false),
    ] {
        assert_eq!(is_epoch(number), wanted, "{number}");
    }
}
