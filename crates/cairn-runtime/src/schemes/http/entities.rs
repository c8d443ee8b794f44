//! Characters that HTML writes by name or number: the usual names, each with its semicolon. What is none stays as
//! it stands.

use std::borrow::Cow;

/// The longest name.
const LONGEST: usize = 10;

/// Those from U+00A0 on, in order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil \
Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc \
Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml \
eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// Those from U+0391 on, in order; of those from U+03B1 on the names begin small.
const GREEK: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau \
Upsilon Phi Chi Psi Omega";

/// The others that pages use.
const OTHERS: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
    ("fnof", 'ƒ'),
    ("circ", 'ˆ'),
    ("tilde", '˜'),
    ("sigmaf", 'ς'),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("dagger", '†'),
    ("Dagger", '‡'),
    ("bull", '•'),
    ("hellip", '…'),
    ("permil", '‰'),
    ("prime", '′'),
    ("Prime", '″'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("frasl", '⁄'),
    ("euro", '€'),
    ("trade", '™'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("rArr", '⇒'),
    ("hArr", '⇔'),
    ("forall", '∀'),
    ("part", '∂'),
    ("exist", '∃'),
    ("empty", '∅'),
    ("isin", '∈'),
    ("notin", '∉'),
    ("prod", '∏'),
    ("sum", '∑'),
    ("minus", '−'),
    ("radic", '√'),
    ("infin", '∞'),
    ("and", '∧'),
    ("or", '∨'),
    ("cap", '∩'),
    ("cup", '∪'),
    ("int", '∫'),
    ("sim", '∼'),
    ("asymp", '≈'),
    ("ne", '≠'),
    ("equiv", '≡'),
    ("le", '≤'),
    ("ge", '≥'),
    ("sub", '⊂'),
    ("sup", '⊃'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("lbrace", '{'),
    ("rbrace", '}'),
    ("lpar", '('),
    ("rpar", ')'),
    ("num", '#'),
    ("ast", '*'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("vert", '|'),
    ("colon", ':'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("check", '✓'),
    ("star", '☆'),
    ("starf", '★'),
];

/// A text with its characters in the place of their names.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    let mut told = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        told.push_str(before);
        match character(&from[1..]) {
            Some((character, bytes)) => {
                told.push(character);
                rest = &from[1 + bytes..];
            }
            None => {
                told.push('&');
                rest = &from[1..];
            }
        }
    }
    match told.is_empty() && rest.len() == text.len() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(told + rest),
    }
}

/// The character whose name a text begins with, and how long that is with its semicolon.
fn character(text: &str) -> Option<(char, usize)> {
    let head = text.as_bytes().get(..text.len().min(LONGEST + 1))?;
    let end = head.iter().position(|byte| *byte == b';')?;
    let name = text.get(..end)?;
    let found = match name.strip_prefix('#') {
        Some(number) => numbered(number)?,
        None => named(name)?,
    };
    Some((found, end + 1))
}

fn numbered(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let found = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    let is_bad = found.is_control() && !matches!(found, '\n' | '\t');
    Some(if is_bad { char::REPLACEMENT_CHARACTER } else { found })
}

fn named(name: &str) -> Option<char> {
    if let Some((_, found)) = OTHERS.iter().find(|(known, _)| *known == name) {
        return Some(*found);
    }
    let in_order = |names: &str, first: u32| {
        let place = names.split(' ').position(|known| known == name)?;
        char::from_u32(first + u32::try_from(place).ok()?)
    };
    in_order(LATIN, 0xa0).or_else(|| in_order(GREEK, 0x391)).or_else(|| {
        let place = GREEK.split(' ').position(|known| known.to_ascii_lowercase() == name)?;
        char::from_u32(0x3b1 + u32::try_from(place).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_known_by_its_name_or_number() {
        let check = |text: &str, expected: &str| assert_eq!(decoded(text), expected, "{text}");
        check("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d");
        check("&nbsp;&copy;&yuml;&szlig;&times;", "\u{a0}©ÿß×");
        check("&Alpha;&Omega;&alpha;&omega;&sigma;&sigmaf;", "ΑΩαωσς");
        check("&#65;&#x42;&#X43;&#0;&#55296;&#1114112;", "ABC\u{fffd}\u{fffd}\u{fffd}");
        check("&amp;lt;", "&lt;");
        check("a & b &unknown; &amp &;&#;&#x;", "a & b &unknown; &amp &;&#;&#x;");
        check("&", "&");
        check("&äöü;", "&äöü;");
        assert_eq!(LATIN.split(' ').count(), 96);
        assert_eq!(GREEK.split(' ').count(), 25);
    }
}
