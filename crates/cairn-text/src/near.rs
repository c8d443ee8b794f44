//! How near names are to one that is not there, for whoever misspelt it. What there is to choose from is the
//! caller's.

/// How many letters must be changed, added, left out or swapped with their neighbour to make one word of the other.
#[must_use]
pub fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (n, a) in one.iter().enumerate() {
        let mut next = vec![n + 1];
        for (m, b) in other.iter().enumerate() {
            let changed = row[m] + usize::from(a != b);
            let least = changed.min(row[m + 1] + 1).min(next[m] + 1);
            let is_swapped = n > 0 && m > 0 && *a == other[m - 1] && one[n - 1] == *b;
            next.push(if is_swapped { least.min(above[m - 1] + 1) } else { least });
        }
        above = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

/// How far a file's name is from the one that was wanted, where it is near: a third of the letters may differ, in
/// whichever case, and all of what follows the last point.
#[must_use]
pub fn of_name(wanted: &str, name: &str) -> Option<usize> {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    let letters = wanted.chars().count();
    let most = (letters / 3).max(1).min(letters.saturating_sub(1));
    let is_same = stem(&wanted) == stem(&name);
    // What differs more in length alone cannot be near, and need not be measured.
    if !is_same && letters.abs_diff(name.chars().count()) > most {
        return None;
    }
    let far = distance(&wanted, &name);
    (is_same || far <= most).then_some(far)
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_by_its_letters_or_its_stem() {
        let check = |wanted: &str, name: &str, far: Option<usize>| {
            assert_eq!(of_name(wanted, name), far, "{wanted} {name}");
        };
        check("notes.md", "notes.md", Some(0));
        check("note.md", "notes.md", Some(1));
        check("NOTES.md", "notes.md", Some(0));
        check("notes.txt", "notes.md", Some(3));
        check("a.markdown", "a.md", Some(6));
        check("config.yaml", "main.rs", None);
        check("x", "a-much-longer-name", None);
        check("scr", "src", Some(1));
        check("none", "line", None);
        check("e", "a", None);
        check("über.md", "uber.md", Some(1));
    }
}
