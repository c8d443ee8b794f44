//! Prints how long the span of two numbers is.

use spans::Span;

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    match numbers[..] {
        [start, end] if start <= end => println!("{}", Span { start, end }.len()),
        _ => eprintln!("usage: spans START END"),
    }
}
