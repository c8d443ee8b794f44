//! TOML as a tree. Dates and times are texts, and so are numbers that are not finite.

use super::limits::{Budget, within};
use super::lines::Starts;
use super::{Node, Number, Unreadable, Value};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Node, Unreadable> {
    let starts = Starts::of(text);
    let table = DeTable::parse(text).map_err(|error| Unreadable::Malformed {
        form: "TOML",
        line: starts.line(error.span().map_or(0, |span| span.start)),
        why: error.message().to_owned(),
    })?;
    let mut projection = Projection { starts, budget };
    projection.table(table.get_ref(), 1, 0)
}

struct Projection<'b> {
    starts: Starts,
    budget: &'b mut Budget,
}

impl Projection<'_> {
    fn table(
        &mut self,
        table: &DeTable<'_>,
        line: usize,
        depth: usize,
    ) -> Result<Node, Unreadable> {
        within(depth, line)?;
        self.budget.value()?;
        // The parser keeps names sorted; the document's order is that of their places.
        let mut fields: Vec<_> = table.iter().collect();
        fields.sort_by_key(|(name, _)| name.span().start);
        let fields = fields.into_iter().map(|(name, value)| {
            Ok((name.get_ref().clone().into_owned(), self.value(value, depth + 1)?))
        });
        Ok(Node::new(line, Value::Object(fields.collect::<Result<_, _>>()?)))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Unreadable> {
        let line = self.starts.line(value.span().start);
        let plain = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, line, depth),
            DeValue::Array(items) => {
                within(depth, line)?;
                let items = items.iter().map(|item| self.value(item, depth + 1));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(whole) => Number::whole(whole.as_str(), whole.radix())
                .map_or_else(|| Value::Text(whole.to_string()), Value::Number),
            DeValue::Float(real) => Number::foreign(real.as_str())
                .map_or_else(|| Value::Text(real.to_string()), Value::Number),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
        };
        within(depth, line)?;
        self.budget.value()?;
        Ok(Node::new(line, plain))
    }
}
