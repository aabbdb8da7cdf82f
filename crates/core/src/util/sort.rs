//! Stable sorting by a number. All kinds of items go through one sort of numbers: each kind that the
//! standard sort is used for would add some kilobytes of code to the addon.

/// Sorts the items by the number of each, those with the same number as they stand. What is sorted
/// already, which is the usual case, costs one pass.
pub(crate) fn sort_by_number<T>(items: &mut Vec<T>, number: impl Fn(&T) -> u64) {
    if items.is_sorted_by_key(&number) {
        return;
    }
    let mut order: Vec<(u64, usize)> = items.iter().map(number).zip(0..).collect();
    // No two are the same, since no two have the same place.
    order.sort_unstable();
    let mut slots: Vec<Option<T>> = items.drain(..).map(Some).collect();
    let taken = order
        .iter()
        .filter_map(|(_, at)| slots.get_mut(*at)?.take());
    items.extend(taken);
}

/// A number that is ordered as [`f64::total_cmp`] orders.
pub(crate) fn total_order(number: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_equals() {
        let mut items: Vec<(u64, usize)> = (0..1000)
            .map(|at: usize| ((at as u64).wrapping_mul(7919) % 17, at))
            .collect();
        let mut expected = items.clone();
        expected.sort_by_key(|(number, _)| *number);
        sort_by_number(&mut items, |(number, _)| *number);
        assert_eq!(items, expected);
        sort_by_number(&mut items, |(number, _)| *number);
        assert_eq!(items, expected);
    }

    #[test]
    fn numbers_have_their_total_order() {
        let numbers = [
            -f64::NAN,
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            1e-300,
            1.0,
            1_795_977_394_381.0,
            f64::INFINITY,
            f64::NAN,
        ];
        for pair in numbers.windows(2) {
            assert!(total_order(pair[0]) < total_order(pair[1]), "{pair:?}");
        }
    }
}
