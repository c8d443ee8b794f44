//! Whether a text is a regular expression, told by its form alone. Building one takes megabytes and a tenth of a second
//! for a few letters such as `\w{99}`; whoever only wants to know whether it is one does not pay that.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, Ast, ClassSetItem, ClassUnicode};
use regex_syntax::hir::translate::Translator;

/// The longest expression whose form is looked at, in bytes: its tree takes a hundred times its room.
pub(crate) const LONGEST: usize = 1 << 10;

/// Says what is wrong with the form of an expression, if anything: one phrase, as the engine would say it.
pub(crate) fn check(expression: &str) -> Result<(), String> {
    let tree = Parser::new().parse(expression).map_err(|error| cause(&error.to_string()))?;
    ast::visit(&tree, Names { expression })
}

/// The last line of an engine's words, which has the cause.
pub(crate) fn cause(words: &str) -> String {
    let last = words.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Looks whether there are the classes that are named. Each is looked up by itself and let go, since a class is large.
struct Names<'e> {
    expression: &'e str,
}

impl Names<'_> {
    fn look_up(&self, class: &ClassUnicode) -> Result<(), String> {
        let alone = Ast::class_unicode(class.clone());
        let found = Translator::new().translate(self.expression, &alone);
        found.map(|_| ()).map_err(|error| cause(&error.to_string()))
    }
}

impl ast::Visitor for Names<'_> {
    type Output = ();
    type Err = String;

    fn finish(self) -> Result<(), String> {
        Ok(())
    }

    fn visit_pre(&mut self, part: &Ast) -> Result<(), String> {
        match part {
            Ast::ClassUnicode(class) => self.look_up(class),
            _ => Ok(()),
        }
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), String> {
        match item {
            ClassSetItem::Unicode(class) => self.look_up(class),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use proptest::prelude::*;

    #[test]
    fn what_is_wrong_is_said_as_the_engine_says_it() {
        for bad in
            ["(", "[", "*", "a{2,1}", "[z-a]", r"\p{Xx}", r"[a\P{Foo=Bar}]", "(?P<a>x)(?P<a>y)"]
        {
            let error = regex::Regex::new(bad).expect_err(bad).to_string();
            assert_eq!(check(bad), Err(super::cause(&error)), "{bad}");
        }
        for good in ["", r"\w{99999}", r"[\p{L}--a]", "(?i)é|b", "(?x) a # b"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    proptest! {
        // What turns Unicode off is known to be wrong only when it is built.
        #[test]
        fn what_has_no_form_is_never_built(text in r"[\[\](){}*+?|^$\\a-dpwLN0-9.:<>=!é日😀-]{0,16}") {
            let built = regex::Regex::new(&text);
            let is_form = check(&text).is_ok();
            let is_large = matches!(built, Err(regex::Error::CompiledTooBig(_)));
            prop_assert!(is_form == (built.is_ok() || is_large), "{text}");
        }
    }
}
