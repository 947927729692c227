//! The route matcher again, plain and slow: every route split and tried for each path, character by
//! character. Tests and fuzzing compare the real one with it; the two share no code.

use std::cmp::Ordering;

/// The index among `routes` of the one that answers `path`, and what it captures; the wildcard's part comes last.
pub fn lookup(routes: &[&str], path: &str) -> Option<(usize, Vec<String>)> {
    if !path.starts_with('/') {
        return None;
    }
    let inner: Vec<char> = trim(path).chars().collect();
    let mut best: Option<(usize, Vec<String>)> = None;
    for (index, route) in routes.iter().enumerate() {
        let items = split(route);
        if let Some(captures) = walk(&items, &inner) {
            let first = match &best {
                None => true,
                Some((other, _)) => compare(&items, &split(routes[*other])) == Ordering::Less,
            };
            if first {
                best = Some((index, captures));
            }
        }
    }
    let (found, captures) = best?;
    // Of routes with one text the last declared answers.
    let last = routes.iter().rposition(|route| *route == routes[found])?;
    Some((last, captures))
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Text(String),
    Parameter,
    Rest,
    Slash,
    DotAfterParameter,
}

fn trim(text: &str) -> &str {
    text.trim_matches('/')
}

fn split(route: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut word = String::new();
    let trimmed = trim(route);
    let wild = ["...", "*"].iter().find_map(|end| {
        trimmed
            .strip_suffix(end)
            .filter(|before| before.is_empty() || before.ends_with('/'))
    });
    let body = trim(wild.unwrap_or(trimmed));
    let finish = |word: &mut String, items: &mut Vec<Item>| {
        if word.starts_with(':') {
            items.push(Item::Parameter);
        } else if !word.is_empty() {
            items.push(Item::Text(word.clone()));
        }
        word.clear();
    };
    for character in body.chars() {
        match character {
            '/' => {
                finish(&mut word, &mut items);
                items.push(Item::Slash);
            }
            '.' if word.starts_with(':') => {
                finish(&mut word, &mut items);
                items.push(Item::DotAfterParameter);
            }
            '.' => match (word.is_empty(), items.last_mut()) {
                (true, Some(Item::Text(text))) => text.push('.'),
                _ => {
                    word.push('.');
                    finish(&mut word, &mut items);
                }
            },
            character => word.push(character),
        }
    }
    finish(&mut word, &mut items);
    if wild.is_some() {
        if !items.is_empty() {
            items.push(Item::Slash);
        }
        items.push(Item::Rest);
    }
    items
}

/// Which of two patterns is tried first: the first position where they differ says; else dots, then length.
fn compare(a: &[Item], b: &[Item]) -> Ordering {
    let rank = |item: &Item| match item {
        Item::Text(_) => "1 literal",
        Item::Parameter => "2 parameter",
        Item::Rest => "3 wildcard",
        Item::Slash | Item::DotAfterParameter => "4 separator",
    };
    let dots = |items: &[Item]| {
        items
            .iter()
            .filter(|item| **item == Item::DotAfterParameter)
            .count()
    };
    for (one, other) in a.iter().zip(b) {
        if rank(one) != rank(other) {
            return rank(one).cmp(rank(other));
        }
    }
    if dots(a) != dots(b) {
        dots(b).cmp(&dots(a))
    } else {
        a.len().cmp(&b.len())
    }
}

/// Walks the items over the path, character by character.
fn walk(items: &[Item], path: &[char]) -> Option<Vec<String>> {
    let Some((item, later)) = items.split_first() else {
        return path.is_empty().then(Vec::new);
    };
    match item {
        Item::Text(text) => {
            let text: Vec<char> = text.chars().collect();
            walk(later, path.strip_prefix(text.as_slice())?)
        }
        Item::DotAfterParameter => walk(later, path.strip_prefix(&['.'])?),
        Item::Slash if path.is_empty() && later == [Item::Rest] => walk(later, path),
        Item::Slash => walk(later, path.strip_prefix(&['/'])?),
        Item::Rest => Some(vec![path.iter().collect()]),
        Item::Parameter => {
            if path.is_empty() {
                return None;
            }
            let stops = |character: &char| {
                *character == '/'
                    || (*character == '.' && later.first() == Some(&Item::DotAfterParameter))
            };
            let end = path.iter().position(stops).unwrap_or(path.len());
            let mut captures = walk(later, &path[end..])?;
            captures.insert(0, path[..end].iter().collect());
            Some(captures)
        }
    }
}
