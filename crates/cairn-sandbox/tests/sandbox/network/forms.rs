//! How hosts, ports and patterns are read.

use cairn_sandbox::network::{HostPattern, HostPort, Reach};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(texts: &[&str], expected: Expect) {
    let read = |text: &&str| match text.parse::<HostPort>() {
        Ok(to) => format!("{text} -> {to}\n"),
        Err(error) => format!("{text} -- {error}\n"),
    };
    expected.assert_eq(&texts.iter().map(read).collect::<String>());
}

fn covered(pattern: &str, cases: &[(&str, bool)]) {
    let pattern: HostPattern = pattern.parse().unwrap();
    for (to, expected) in cases {
        assert_eq!(pattern.covers(&to.parse().unwrap()), *expected, "{pattern} {to}");
    }
}

#[test]
fn a_name_is_the_same_however_it_is_written() {
    check(
        &["EXAMPLE.org.:443", "example.ORG:0443", "xn--Bcher-kva.example:80", "a_b.test:1"],
        expect![[r#"
            EXAMPLE.org.:443 -> example.org:443
            example.ORG:0443 -> example.org:443
            xn--Bcher-kva.example:80 -> xn--bcher-kva.example:80
            a_b.test:1 -> a_b.test:1
        "#]],
    );
}

#[test]
fn an_address_is_the_same_however_it_is_written() {
    check(
        &[
            "127.0.0.1:1",
            "127.1:1",
            "0x7f.1:1",
            "0X7F000001:1",
            "2130706433:1",
            "0177.0.0.01:1",
            "127.0.0.1.:1",
            "127.65535:1",
            "[::ffff:127.0.0.1]:1",
            "[::FFFF:7f00:1]:1",
            "[0:0:0:0:0:0:0:1]:1",
            "[2001:DB8::1]:1",
        ],
        expect![[r#"
            127.0.0.1:1 -> 127.0.0.1:1
            127.1:1 -> 127.0.0.1:1
            0x7f.1:1 -> 127.0.0.1:1
            0X7F000001:1 -> 127.0.0.1:1
            2130706433:1 -> 127.0.0.1:1
            0177.0.0.01:1 -> 127.0.0.1:1
            127.0.0.1.:1 -> 127.0.0.1:1
            127.65535:1 -> 127.0.255.255:1
            [::ffff:127.0.0.1]:1 -> 127.0.0.1:1
            [::FFFF:7f00:1]:1 -> 127.0.0.1:1
            [0:0:0:0:0:0:0:1]:1 -> [::1]:1
            [2001:DB8::1]:1 -> [2001:db8::1]:1
        "#]],
    );
}

#[test]
fn what_could_be_read_in_two_ways_is_no_host() {
    check(
        &[
            ":443",
            ".:443",
            "example..org:443",
            ".example.org:443",
            "example.org..:443",
            "example.org@evil:443",
            "example.org evil:443",
            "example.org%2eevil:443",
            "example.org\\evil:443",
            "bücher.example:443",
            "256.0.0.1:443",
            "1.2.3.4.5:443",
            "1.2.3.08:443",
            "example.0x:443",
            "4294967296:443",
            "127.16777216:443",
            "[::1:443",
            "::1:443",
            "[::1%25eth0]:443",
            "[127.0.0.1]:443",
            "[::1]x:443",
            "example.org",
            "example.org:",
            "example.org:0",
            "example.org:+443",
            "example.org:65536",
            "example.org:443:443",
        ],
        expect![[r#"
            :443 -- a host is missing; write it as example.org
            .:443 -- a host is missing; write it as example.org
            example..org:443 -- a host is made of labels of 1 to 63 characters, 253 in all
            .example.org:443 -- a host is made of labels of 1 to 63 characters, 253 in all
            example.org..:443 -- a host is made of labels of 1 to 63 characters, 253 in all
            example.org@evil:443 -- a host cannot hold '@'; write it alone, and beyond ASCII in its xn-- form
            example.org evil:443 -- a host cannot hold ' '; write it alone, and beyond ASCII in its xn-- form
            example.org%2eevil:443 -- a host cannot hold '%'; write it alone, and beyond ASCII in its xn-- form
            example.org\evil:443 -- a host cannot hold '\\'; write it alone, and beyond ASCII in its xn-- form
            bücher.example:443 -- a host cannot hold 'ü'; write it alone, and beyond ASCII in its xn-- form
            256.0.0.1:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            1.2.3.4.5:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            1.2.3.08:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            example.0x:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            4294967296:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            127.16777216:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            [::1:443 -- a port is a number from 1 to 65535, after a colon
            ::1:443 -- a port is a number from 1 to 65535, after a colon
            [::1%25eth0]:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            [127.0.0.1]:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            [::1]x:443 -- the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]
            example.org -- a port is a number from 1 to 65535, after a colon
            example.org: -- a port is a number from 1 to 65535, after a colon
            example.org:0 -- a port is a number from 1 to 65535, after a colon
            example.org:+443 -- a port is a number from 1 to 65535, after a colon
            example.org:65536 -- a port is a number from 1 to 65535, after a colon
            example.org:443:443 -- a port is a number from 1 to 65535, after a colon
        "#]],
    );
}

#[test]
fn a_pattern_covers_whole_labels_and_its_ports_only() {
    covered(
        "Example.org",
        &[
            ("example.org:443", true),
            ("example.org.:80", true),
            ("example.org:22", false),
            ("www.example.org:443", false),
            ("evil-example.org:443", false),
            ("example.org.evil.test:443", false),
        ],
    );
    covered(
        "*.example.org:8443",
        &[
            ("a.example.org:8443", true),
            ("a.b.EXAMPLE.org:8443", true),
            ("a.example.org:443", false),
            ("example.org:8443", false),
            ("evil-example.org:8443", false),
            ("a.example.org.evil.test:8443", false),
        ],
    );
}

#[test]
fn an_address_is_covered_by_that_address_alone() {
    covered("127.0.0.1", &[("0x7f.1:80", true), ("127.0.0.2:80", false), ("localhost:80", false)]);
    covered("::1", &[("[::1]:443", true), ("[::2]:443", false), ("127.0.0.1:443", false)]);
    covered("[2001:db8::1]:9", &[("[2001:DB8:0::1]:9", true), ("[2001:db8::1]:443", false)]);
    covered("*.test", &[("127.0.0.1:80", false), ("a.test:80", true), ("test:80", false)]);
}

#[test]
fn what_is_denied_is_not_covered_whatever_covers_it() {
    let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let reach = Reach {
        allow: patterns(&["*.example.org", "example.org:8080", "192.0.2.1"]),
        deny: patterns(&["evil.example.org", "example.org", "*.in.example.org:443"]),
        ask: patterns(&["*.at.example.org"]),
        named: patterns(&["let.at.example.org:443"]),
        private: false,
    };
    for (to, expected) in [
        ("www.example.org:443", true),
        ("evil.example.org:443", false),
        ("a.evil.example.org:443", true),
        ("example.org:8080", false),
        ("a.in.example.org:443", false),
        ("a.in.example.org:80", true),
        ("192.0.2.1:443", true),
        ("any.at.example.org:443", false),
        ("let.at.example.org:443", true),
        ("let.at.example.org:80", false),
    ] {
        assert_eq!(reach.covers(&to.parse().unwrap()), expected, "{to}");
    }
}

#[test]
fn a_pattern_says_what_it_means_or_is_none() {
    let read = |text: &&str| match text.parse::<HostPattern>() {
        Ok(pattern) => format!("{text} -> {pattern}\n"),
        Err(error) => format!("{text} -- {error}\n"),
    };
    let texts = [
        "EXAMPLE.org.",
        "*.Example.org:8080",
        "::FFFF:10.0.0.1",
        "[2001:DB8::1]:443",
        "*",
        "*.",
        "*.*.example.org",
        "www.*.org",
        "*example.org",
        "*.127.0.0.1",
        "0x7f.1",
        "127.0.0.01:80",
        "https://example.org",
        "example.org/path",
        "user@example.org",
        "",
    ];
    expect![[r#"
        EXAMPLE.org. -> example.org
        *.Example.org:8080 -> *.example.org:8080
        ::FFFF:10.0.0.1 -- the address is 10.0.0.1; write it so
        [2001:DB8::1]:443 -> [2001:db8::1]:443
        * -- write a pattern as example.org, or as *.example.org for what is beneath it
        *. -- a host is missing; write it as example.org
        *.*.example.org -- write a pattern as example.org, or as *.example.org for what is beneath it
        www.*.org -- write a pattern as example.org, or as *.example.org for what is beneath it
        *example.org -- write a pattern as example.org, or as *.example.org for what is beneath it
        *.127.0.0.1 -- write a pattern as example.org, or as *.example.org for what is beneath it
        0x7f.1 -- the address is 127.0.0.1; write it so
        127.0.0.01:80 -- the address is 127.0.0.1; write it so
        https://example.org -- a host cannot hold '/'; write it alone, and beyond ASCII in its xn-- form
        example.org/path -- a host cannot hold '/'; write it alone, and beyond ASCII in its xn-- form
        user@example.org -- a host cannot hold '@'; write it alone, and beyond ASCII in its xn-- form
         -- a host is missing; write it as example.org
    "#]].assert_eq(&texts.iter().map(read).collect::<String>());
}

proptest! {
    #[test]
    fn beneath_means_more_labels_before_the_same(
        name in prop::collection::vec("(a|b|ab|c-a)", 1..5),
        above in prop::collection::vec("(a|b|ab)", 1..4),
    ) {
        let pattern: HostPattern = format!("*.{}", above.join(".")).parse().unwrap();
        let to: HostPort = format!("{}:443", name.join(".")).parse().unwrap();
        prop_assert_eq!(pattern.covers(&to), name.len() > above.len() && name.ends_with(&above));
    }

    #[test]
    fn what_is_shown_is_read_as_the_same(text in "[a-zA-Z0-9.:\\[\\]xé日😀-]{1,20}:[0-9]{1,5}") {
        if let Ok(to) = text.parse::<HostPort>() {
            prop_assert_eq!(to.to_string().parse::<HostPort>(), Ok(to));
        }
    }

    #[test]
    fn no_text_is_too_odd_to_be_read(text in "(é|日|😀|\\PC){0,40}") {
        let _ = text.parse::<HostPort>();
        let _ = text.parse::<HostPattern>();
    }
}
