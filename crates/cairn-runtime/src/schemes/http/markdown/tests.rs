//! Pages and what is told of them.

use super::{MOST, of};
use proptest::prelude::*;
use reqwest::Url;

fn told(html: &str) -> String {
    of(html, &Url::parse("https://example.org/docs/page.html?q=1").unwrap())
}

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(told(html), expected, "{html}");
}

// keeps: web-markdown
#[test]
fn a_page_is_told_as_markdown() {
    check("<h1>One</h1><p>a <b>b</b>\n  c</p><h2>Two</h2>d", "# One\n\na b c\n\n## Two\n\nd\n");
    check("<title> The\nTitle </title><p>x", "# The Title\n\nx\n");
    check("<title>The Title</title><h1>Own</h1><p>x", "# Own\n\nx\n");
    check("a<br>b<br/>c", "a\nb\nc\n");
    check("<p>a<hr>b", "a\n\n---\n\nb\n");
    check("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne\n");
    check("<ol><li>a</li><li><p>b</p><p>c</p></li></ol>", "1. a\n2. b\n\n   c\n");
    check("x<blockquote>a<p>b</blockquote>c", "x\n\n> a\n\n> b\n\nc\n");
    check("use <code>a  b</code>, <code>x`y</code>.", "use `a b`, `` x`y ``.\n");
    check("<img src=x alt='A cat'> sits", "A cat sits\n");
    check("&lt;b&gt; &amp; c&nbsp;d", "<b> & c d\n");
}

// keeps: web-markdown
#[test]
fn links_are_told_by_their_whole_address() {
    check("<a href=other.html>x</a>", "[x](https://example.org/docs/other.html)\n");
    check("<a href='/a?b=1&amp;c'> x </a>y", "[x](https://example.org/a?b=1&c) y\n");
    check("<a href=//cdn.example/>x</a>", "[x](https://cdn.example/)\n");
    check(
        "<base href=https://other.example/b/><a href=c>x</a>",
        "[x](https://other.example/b/c)\n",
    );
    check("<a href=a(b)>x</a>", "[x](<https://example.org/docs/a(b)>)\n");
    check("<a href='#top'>x</a> <a name=y>z</a>", "x z\n");
    check("<a href='javascript:alert(1)'>x</a> <a href='data:text/html,y'>y</a>", "x y\n");
    check("<a href=c></a>x", "x\n");
    check("<a href=c><img alt='A cat'></a>", "[A cat](https://example.org/docs/c)\n");
    check(
        "<a href=c><h3>Card</h3><p>words</a>",
        "### [Card](https://example.org/docs/c)\n\nwords\n",
    );
    check("<a href=c>never closed<p>b", "[never closed](https://example.org/docs/c)\n\nb\n");
}

// keeps: web-markdown
#[test]
fn code_and_tables_keep_their_form() {
    check(
        "<pre><code class='hljs language-rust'>fn a() {\n    b\n}\n</code></pre>c",
        "```rust\nfn a() {\n    b\n}\n```\n\nc\n",
    );
    check("<pre>\na <b>b</b>\n``` c</pre>", "````\na b\n``` c\n````\n");
    check("<ul><li>a<pre>b\n c</pre></ul>", "- a\n\n  ```\n  b\n   c\n  ```\n");
    check(
        "<table><tr><th>A<th>B</tr><tr><td>1<td><p>2|3</p></table>x",
        "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |\n\nx\n",
    );
    check("<table><caption>C</caption><tr><td>a</table>", "C\n\n| a |\n| --- |\n");
    check(
        "<table><tr><td><h2>T</h2><td>b<tr><td><table><tr><td>c</table></table>",
        "## T\n\nb\n\n| c |\n| --- |\n",
    );
}

// keeps: web-markdown
#[test]
fn what_is_not_for_readers_is_left_out() {
    check("<nav><ul><li><a href=x>n</a></ul></nav>a<footer>f</footer>", "a\n");
    check(
        "<script>s</script><style>t</style><svg><title>u</title></svg>a<template>v</template>",
        "a\n",
    );
    check("a<div hidden>h<div>i</div></div>b<span hidden>c</span>", "a\n\nbc\n");
    check("<!-- c -->a<button>b</button><select><option>c</select>", "a\n");
    let own = "x".repeat(300);
    check(&format!("<div>menu</div><main><p>{own}</main><div>more</div>"), &format!("{own}\n"));
    check("<div>menu</div><main>loading</main><div>more</div>", "menu\n\nloading\n\nmore\n");
    // What is never closed hides nothing.
    check("<nav>a<p>b", "a\n\nb\n");
}

/// A page of one thing many times.
fn many(piece: &str, times: usize) -> String {
    piece.repeat(times)
}

// keeps: web-hostile
#[test]
fn a_hostile_page_is_read_in_bounds() {
    let n = 100_000;
    let deep = [
        "<div>",
        "<b>",
        "<p>",
        "<ul>",
        "<ul><li>",
        "<blockquote>",
        "<table>",
        "<table><tr><td>",
        "<a href=x>",
        "<a href=x>y",
        "<pre>",
        "<code>",
        "<h1>",
        "<main>",
        "<nav>",
        "<svg>",
        "<li>",
        "<td>",
        "<",
        "</",
        "<!",
        "<!--",
        "&",
        "&#",
        "<a ",
        "<a href=\"",
        "</div>",
        "<title>",
        "<script>",
        "]]>",
        "\u{0}",
        "<td>x",
        "`",
        "<code>`</code>",
    ];
    for piece in deep {
        let page = told(&format!("{}x", many(piece, n)));
        assert!(page.len() <= MOST + 100, "{piece}: {} bytes", page.len());
    }
    let closed = format!("{}x{}", many("<div><ul><li>", n), many("</li></ul></div>", n));
    assert!(told(&closed).ends_with("x\n\n… the rest of the page is left out\n"), "cut");
    // Attributes without end, each another.
    let attributes: String = (0..n).map(|n| format!(" a{n}=b")).collect();
    check(&format!("<p{attributes}>x"), "x\n");
    // What is told is never much more than what was read.
    let base = format!("<base href=https://e.example/{}/>", many("a", 2000));
    let links = told(&format!("{base}{}", many("<a href=x>y</a>", n)));
    assert!(links.len() <= MOST + 100 && links.contains("left out"), "{} bytes", links.len());
}

proptest! {
    // keeps: web-hostile
    #[test]
    fn any_text_is_read(html in "(<|</|>|\"|'|=|&|#|;| |a|p|ul|li|pre|table|tr|td|h1|nav|main|title|code|base|href|\n|é|日|😀|\\PC){0,60}") {
        let _ = told(&html);
    }
}
