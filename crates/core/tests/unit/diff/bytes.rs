use super::*;

#[test]
fn agree_up_to_the_first_difference() {
    for length in 0..200 {
        let text = vec![b'x'; length];
        assert_eq!(common_prefix(&text, &text), length);
        assert_eq!(common_suffix(&text, &text), length);
        for at in 0..length {
            let mut other = text.clone();
            other[at] = b'y';
            assert_eq!(common_prefix(&text, &other), at);
            assert_eq!(common_suffix(&text, &other), length - at - 1);
            assert_eq!(common_prefix(&text, &text[..at]), at);
            assert_eq!(common_suffix(&text[at..], &text), length - at);
        }
    }
}
