//! As much of GBNF as the envelope's grammars use: whether a text is of a grammar, and texts that are.

use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Clone)]
enum Node {
    Text(String),
    Class { is_negated: bool, ranges: Vec<(char, char)> },
    Rule(String),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, usize, usize),
}

/// A repetition without an end goes on to here when a text is made.
const MADE: usize = 4;
/// Characters that texts are made of, where a class takes them.
const PALETTE: &str = "aZ09 _-/.:,;'<>{}[]()*?\"\\`#é世😀\u{7f}\u{85}\n\t";

/// A grammar.
pub struct Grammar(HashMap<String, Node>);

impl Grammar {
    /// Reads one. Every rule that is named must be there.
    pub fn new(text: &str) -> Grammar {
        let rules = text.lines().map(|line| {
            let (name, rule) = line.split_once(" ::= ").expect("a rule");
            let mut rest = rule.chars().peekable();
            let node = choice(&mut rest);
            assert_eq!(rest.next(), None, "{line}");
            (name.to_owned(), node)
        });
        let grammar = Grammar(rules.collect());
        grammar.0.values().for_each(|node| grammar.check(node));
        grammar
    }

    /// The rules that begin like this.
    pub fn rules(&self, start: &str) -> usize {
        self.0.keys().filter(|name| name.starts_with(start)).count()
    }

    fn check(&self, node: &Node) {
        match node {
            Node::Rule(name) => assert!(self.0.contains_key(name), "no rule {name}"),
            Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().for_each(|n| self.check(n)),
            Node::Repeat(node, ..) => self.check(node),
            Node::Text(_) | Node::Class { .. } => {}
        }
    }

    /// Whether all of a text is of the grammar.
    pub fn accepts(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.ends(&self.0["root"], &text, 0).contains(&text.len())
    }

    /// Where a node can be over that begins here.
    fn ends(&self, node: &Node, text: &[char], at: usize) -> BTreeSet<usize> {
        match node {
            Node::Text(wanted) => {
                let wanted: Vec<char> = wanted.chars().collect();
                text[at..].starts_with(&wanted).then_some(at + wanted.len()).into_iter().collect()
            }
            Node::Class { is_negated, ranges } => {
                let takes =
                    |c: &char| is_negated != &ranges.iter().any(|(a, b)| (a..=b).contains(&c));
                text.get(at).filter(|c| takes(c)).map(|_| at + 1).into_iter().collect()
            }
            Node::Rule(name) => self.ends(&self.0[name], text, at),
            Node::Choice(nodes) => nodes.iter().flat_map(|n| self.ends(n, text, at)).collect(),
            Node::Sequence(nodes) => nodes.iter().fold(BTreeSet::from([at]), |starts, node| {
                starts.into_iter().flat_map(|at| self.ends(node, text, at)).collect()
            }),
            Node::Repeat(node, least, most) => {
                let (mut all, mut last) = (BTreeSet::new(), BTreeSet::from([at]));
                for n in 0..=*most {
                    if n >= *least {
                        all.extend(&last);
                    }
                    last = last.into_iter().flat_map(|at| self.ends(node, text, at)).collect();
                    if last.is_empty() {
                        break;
                    }
                }
                all
            }
        }
    }

    /// A text of the grammar, by these choices.
    pub fn text(&self, choose: &mut impl FnMut(usize) -> usize) -> String {
        let mut text = String::new();
        self.make(&self.0["root"], choose, &mut text);
        text
    }

    fn make(&self, node: &Node, choose: &mut impl FnMut(usize) -> usize, out: &mut String) {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Class { is_negated, ranges } => {
                let takes =
                    |c: &char| is_negated != &ranges.iter().any(|(a, b)| (a..=b).contains(&c));
                let takes: Vec<char> =
                    PALETTE.chars().chain("bfnrt5".chars()).filter(takes).collect();
                out.push(takes[choose(takes.len())]);
            }
            Node::Rule(name) => self.make(&self.0[name], choose, out),
            Node::Choice(nodes) => self.make(&nodes[choose(nodes.len())], choose, out),
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.make(node, choose, out)),
            Node::Repeat(node, least, most) => {
                let times = least + choose((*most).min(least + MADE) - least + 1);
                (0..times).for_each(|_| self.make(node, choose, out));
            }
        }
    }
}

fn choice(rest: &mut Peekable<Chars<'_>>) -> Node {
    let mut all = vec![sequence(rest)];
    while rest.next_if_eq(&'|').is_some() {
        all.push(sequence(rest));
    }
    if all.len() == 1 { all.remove(0) } else { Node::Choice(all) }
}

fn sequence(rest: &mut Peekable<Chars<'_>>) -> Node {
    let mut nodes = Vec::new();
    loop {
        while rest.next_if_eq(&' ').is_some() {}
        let node = match rest.peek() {
            None | Some('|' | ')') => return Node::Sequence(nodes),
            Some('"') => Node::Text(quoted(rest)),
            Some('[') => class(rest),
            Some('(') => {
                rest.next();
                let inner = choice(rest);
                assert_eq!(rest.next(), Some(')'));
                inner
            }
            Some(_) => {
                let mut name = String::new();
                while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                    name.push(c);
                }
                assert!(!name.is_empty(), "{:?}", rest.clone().collect::<String>());
                Node::Rule(name)
            }
        };
        nodes.push(repeated(node, rest));
    }
}

fn repeated(node: Node, rest: &mut Peekable<Chars<'_>>) -> Node {
    let (least, most) = match rest.peek() {
        Some('?') => (0, 1),
        Some('*') => (0, usize::MAX - 1),
        Some('{') => {
            let count: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
            let (least, most) = count.split_once(',').expect("from and to");
            return Node::Repeat(Box::new(node), least.parse().unwrap(), most.parse().unwrap());
        }
        _ => return node,
    };
    rest.next();
    Node::Repeat(Box::new(node), least, most)
}

fn quoted(rest: &mut Peekable<Chars<'_>>) -> String {
    rest.next();
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => return text,
            '\\' => text.push(escaped(rest)),
            c => text.push(c),
        }
    }
    panic!("a text is not closed: {text}")
}

fn escaped(rest: &mut Peekable<Chars<'_>>) -> char {
    match rest.next() {
        Some('x') => {
            let digits: String = rest.by_ref().take(2).collect();
            char::from(u8::from_str_radix(&digits, 16).unwrap())
        }
        Some(c @ ('"' | '\\' | ']' | '[')) => c,
        other => panic!("an escape of {other:?}"),
    }
}

fn class(rest: &mut Peekable<Chars<'_>>) -> Node {
    rest.next();
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let from = match rest.next() {
            Some(']') => return Node::Class { is_negated, ranges },
            Some('\\') => escaped(rest),
            Some(c) => c,
            None => panic!("a class is not closed"),
        };
        let to = match rest.next_if_eq(&'-') {
            None => from,
            Some(_) => match rest.next() {
                Some('\\') => escaped(rest),
                Some(c) => c,
                None => panic!("a range is not closed"),
            },
        };
        ranges.push((from, to));
    }
}
