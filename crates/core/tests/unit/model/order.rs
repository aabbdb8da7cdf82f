use super::*;

#[test]
fn a_replay_in_the_recorded_order_keeps_its_orders() {
    let mut clock = Clock::default();
    let orders: Vec<u64> = [0, 1, 3, 7].map(|order| clock.assign(Some(order))).into();
    assert_eq!(orders, [0, 1, 3, 7]);
    assert_eq!(clock.moved, 0);
}

#[test]
fn a_new_call_moves_all_later_orders() {
    let mut clock = Clock::default();
    let recorded = [Some(0), Some(4), None, None, Some(5), Some(9), None];
    let orders: Vec<u64> = recorded.map(|order| clock.assign(order)).into();
    assert_eq!(orders, [0, 4, 5, 6, 7, 11, 12]);
}

#[test]
fn a_start_later_than_recorded_stays_later() {
    let mut clock = Clock::default();
    let recorded = [Some(0), Some(4), Some(2), Some(5)];
    let orders: Vec<u64> = recorded.map(|order| clock.assign(order)).into();
    assert_eq!(orders, [0, 4, 5, 6]);
}
