//! The differences of two texts, line by line.

/// Tables of more cells are not computed: the lines between the common ends then count as replaced.
const MOST_CELLS: usize = 4_000_000;

/// The lines of both texts in order, each after `' '` (in both), `'-'` (only before) or `'+'` (only after).
#[must_use]
pub fn lines<'a>(before: &'a str, after: &'a str) -> Vec<(char, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(old, new): &(&&str, &&str)| old == new;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = tail.take_while(same).count();
    let (old_rest, common) = old_rest.split_at(old_rest.len() - tail);
    let new_rest = &new_rest[..new_rest.len() - tail];
    let mut out: Vec<(char, &str)> = old[..head].iter().map(|line| (' ', *line)).collect();
    if old_rest.len().saturating_mul(new_rest.len()) <= MOST_CELLS {
        align(old_rest, new_rest, &mut out);
    } else {
        out.extend(old_rest.iter().map(|line| ('-', *line)));
        out.extend(new_rest.iter().map(|line| ('+', *line)));
    }
    out.extend(common.iter().map(|line| (' ', *line)));
    out
}

/// By the longest common subsequence.
fn align<'a>(old: &[&'a str], new: &[&'a str], out: &mut Vec<(char, &'a str)>) {
    let width = new.len() + 1;
    // Lengths of the common subsequences of the rests.
    let mut lengths = vec![0_u32; width * (old.len() + 1)];
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            lengths[i * width + j] = if line == other {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(line), Some(other)) if line == other => {
                out.push((' ', line));
                (i, j) = (i + 1, j + 1);
            }
            (Some(line), other)
                if other.is_none()
                    || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] =>
            {
                out.push(('-', line));
                i += 1;
            }
            (_, Some(line)) => {
                out.push(('+', line));
                j += 1;
            }
            (_, None) => return,
        }
    }
}
