//! `cairn ps`: what runs in the background is listed while it runs, and not afterwards.

use crate::bench_world::Bench;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

// keeps: background
#[test]
fn a_command_in_the_background_is_listed_while_its_run_is_driven() {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let bench = Bench::new(json!([
        call("bash", json!({"command": "touch up; exec sleep 60", "background": true})),
        call("bash", json!({"command": "while [ ! -e seen ]; do sleep 0.02; done"})),
        {"say": "done"},
    ]));
    let listed = || bench.cairn(&["ps", "--json"]).out;
    let mut driver = bench.command(&["run", "--yolo", "serve"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let line = loop {
        if let Some(line) = listed().lines().next() {
            break serde_json::from_str::<Value>(line).unwrap();
        }
        assert!(Instant::now() < until, "it is never listed");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        (line["row"].as_str(), line["command"].as_str()),
        (Some("1/1/1"), Some("touch up; exec sleep 60"))
    );
    let told = bench.cairn(&["ps"]).out;
    assert!(told.contains("touch up; exec sleep 60") && told.contains("/1/1/1"), "{told}");
    std::fs::write(bench.temp.workspace().join("seen"), "").unwrap();
    driver.wait().unwrap();
    assert_eq!(listed(), "");
    assert_eq!(bench.cairn(&["ps"]).out, "no command runs in the background of any run\n");
}
