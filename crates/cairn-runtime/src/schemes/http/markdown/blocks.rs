//! Blocks one below the other, within lists and quotes, and tables.

use super::inline::longest_run;

/// So deep are lists and quotes told; what is deeper stands as deep as this.
const DEEPEST: usize = 16;

/// Something that stands by itself.
pub(super) enum Block<'a> {
    Text(&'a str),
    Heading(usize, &'a str),
    /// Code, and what it is written in.
    Code(&'a str, &'a str),
    Rule,
}

/// What blocks stand in.
enum Around {
    /// A list, and the number of its next item if it has numbers.
    List(Option<u32>),
    /// An item: what its first line begins with, and how far its others are indented.
    Item(Option<String>, usize),
    Quote,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    bytes: usize,
    is_in_cell: bool,
}

/// What was printed so far.
pub(super) struct Blocks {
    out: String,
    most: usize,
    around: Vec<Around>,
    /// The last block stood in a list.
    was_in_list: bool,
    table: Table,
}

impl Blocks {
    pub(super) fn new(most: usize) -> Blocks {
        let (out, around, table) = (String::new(), Vec::new(), Table::default());
        Blocks { out, most, around, was_in_list: false, table }
    }

    /// Whether no more is printed.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() + self.table.bytes >= self.most
    }

    /// All of it.
    pub(super) fn done(mut self) -> String {
        if self.is_full() {
            let end = (0..=self.most).rev().find(|at| self.out.is_char_boundary(*at));
            self.out.truncate(end.unwrap_or_default());
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    pub(super) fn add(&mut self, block: Block<'_>) {
        match block {
            Block::Text(text) => self.lines(text.lines()),
            Block::Heading(level, text) => {
                let text = text.replace('\n', " ");
                self.lines([format!("{} {text}", "#".repeat(level)).as_str()].into_iter());
            }
            Block::Rule => self.lines(["---"].into_iter()),
            Block::Code(code, language) => {
                let code = code.strip_prefix('\n').unwrap_or(code).trim_end();
                let fence = "`".repeat(longest_run(code).max(2) + 1);
                let first = format!("{fence}{language}");
                if !code.is_empty() {
                    let lines = [first.as_str()].into_iter().chain(code.lines());
                    self.lines(lines.chain([fence.as_str()]));
                }
            }
        }
    }

    /// One block, line by line.
    fn lines<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        let is_first_of_item =
            self.around.iter().any(|one| matches!(one, Around::Item(Some(_), _)));
        if !self.out.is_empty() {
            let tight = is_first_of_item && self.was_in_list;
            self.out.push_str(if tight { "\n" } else { "\n\n" });
        }
        for (n, line) in lines.enumerate() {
            if self.is_full() {
                break;
            }
            if n > 0 {
                self.out.push('\n');
            }
            let prefix = self.prefix();
            let whole = format!("{prefix}{line}");
            self.out.push_str(whole.trim_end());
        }
        self.was_in_list = self.around.iter().any(|one| matches!(one, Around::List(_)));
    }

    /// What a line begins with where it stands. An item's mark is told once.
    fn prefix(&mut self) -> String {
        let mut prefix = String::new();
        for one in &mut self.around {
            match one {
                Around::List(_) => {}
                Around::Quote => prefix.push_str("> "),
                Around::Item(mark, indent) => match mark.take() {
                    Some(mark) => prefix.push_str(&mark),
                    None => prefix.push_str(&" ".repeat(*indent)),
                },
            }
        }
        prefix
    }

    fn push(&mut self, one: Around) {
        if self.around.len() < DEEPEST {
            self.around.push(one);
        }
    }

    pub(super) fn list(&mut self, is_numbered: bool) {
        self.push(Around::List(is_numbered.then_some(1)));
    }

    pub(super) fn item(&mut self) {
        self.end_item();
        if !matches!(self.around.last(), Some(Around::List(_))) {
            self.list(false);
        }
        let mark = match self.around.last_mut() {
            Some(Around::List(Some(next))) => {
                let mark = format!("{next}. ");
                *next = next.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        };
        let indent = mark.len();
        self.push(Around::Item(Some(mark), indent));
    }

    /// Ends the open item of the innermost list.
    pub(super) fn end_item(&mut self) {
        let list = self.around.iter().rposition(|one| matches!(one, Around::List(_)));
        if let Some(list) = list {
            self.around.truncate(list + 1);
        }
    }

    pub(super) fn end_list(&mut self, is_numbered: bool) {
        let is_its =
            |one: &Around| matches!(one, Around::List(next) if next.is_some() == is_numbered);
        if let Some(list) = self.around.iter().rposition(is_its) {
            self.around.truncate(list);
        }
    }

    pub(super) fn quote(&mut self) {
        self.push(Around::Quote);
    }

    pub(super) fn end_quote(&mut self) {
        if let Some(quote) = self.around.iter().rposition(|one| matches!(one, Around::Quote)) {
            self.around.truncate(quote);
        }
    }

    pub(super) fn is_in_cell(&self) -> bool {
        self.table.is_in_cell
    }

    pub(super) fn row(&mut self) {
        self.table.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self) {
        if self.table.rows.is_empty() {
            self.row();
        }
        self.table.is_in_cell = true;
    }

    pub(super) fn end_cell(&mut self, text: &str) {
        let text = text.replace('\n', " ").replace('|', "\\|");
        if let Some(row) = self.table.rows.last_mut() {
            self.table.bytes += text.len();
            row.push(text);
        }
        self.table.is_in_cell = false;
    }

    /// Prints the table that was collected. The first row is told as its head, as Markdown has no table without one.
    pub(super) fn end_table(&mut self) {
        let table = std::mem::take(&mut self.table);
        let is_told = |row: &&Vec<String>| row.iter().any(|cell| !cell.is_empty());
        let rows: Vec<&Vec<String>> = table.rows.iter().filter(is_told).collect();
        let Some(first) = rows.first() else { return };
        let line = |row: &Vec<String>| format!("| {} |", row.join(" | "));
        let rule = format!("| {} |", vec!["---"; first.len()].join(" | "));
        let mut lines: Vec<String> = rows.iter().map(|row| line(row)).collect();
        lines.insert(1, rule);
        self.lines(lines.iter().map(String::as_str));
    }
}
