//! What runs may use up: calls, time and money.

use crate::bench_world::Bench;
use serde_json::{Value, json};

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

// keeps: call-budgets
#[test]
fn a_tool_is_called_as_often_as_a_run_may_and_the_run_goes_on() {
    let replies =
        json!([bash("echo 1 >> a"), bash("echo 2 >> a"), bash("echo 3 >> a"), {"say": "ok"}]);
    for (more, told) in [
        ("", "refused: this run may call bash 2 times, and has"),
        (
            "on_exceeded = \"steer\"\n",
            "refused: this run may call bash 2 times, and has; left are read 7 times, and tools \
             without a number",
        ),
    ] {
        let bench = Bench::new(replies.clone());
        bench.own("cairn.toml", &format!("[budgets]\n{more}[budgets.calls]\nbash = 9\nread = 7\n"));
        bench.temp.write("cairn.toml", "[budgets.calls]\nbash = 2\n");
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!((done.code, done.out.as_str()), (0, "ok\n"), "{}", done.err);
        assert_eq!(bench.temp.read("a"), "1\n2\n");
        let sent = bench.requests();
        let sent = sent[3]["messages"].as_array().unwrap();
        assert_eq!(sent.last().unwrap()["content"], told);
        let row = bench.cairn(&["show", "log:///1/3/1"]).out;
        assert!(row.contains("2 of 2 calls were made"), "{row}");
        let again = bench.cairn(&["policy", "replay"]);
        assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    }
    let bench = Bench::new(replies);
    bench.own("cairn.toml", "[budgets.calls]\nbash = 2\n");
    bench.temp.write("cairn.toml", "[budgets.calls]\nbash = 3\n");
    let raised = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(raised.code, 2);
    assert!(raised.err.contains("a project may only lower budgets.calls.bash"), "{}", raised.err);
}

/// Cheap to send, dear to receive: an answer of 400 tokens is 4 cents.
const DEAR: &str =
    "[models.\"openai/test\"]\ninput = \"0.1\"\noutput = \"100\"\nmax_output = 400\n";

fn works(n: usize, usage: Value) -> Value {
    let calls = json!([{"tool": "bash", "args": {"command": format!("echo {n}")}}]);
    json!({"calls": calls, "usage": usage})
}

// keeps: money-reserved
#[test]
fn an_answer_is_as_long_as_the_budget_affords_down_to_a_floor_and_then_the_run_pauses() {
    let usage = json!({"input": 1000, "output": 100});
    let replies: Vec<Value> = (0..20).map(|n| works(n, usage.clone())).collect();
    for (config, flag, why) in [
        (
            "[budgets]\nsession = \"0.10\"\n",
            &[][..],
            "the session has cost $0.080800 of its budget of $0.100000",
        ),
        ("", &["--max-cost", "0.10"], "$0.019200 of the loop's cap on money are left"),
    ] {
        let bench = Bench::new(Value::Array(replies.clone()));
        bench.own("cairn.toml", &format!("{config}{DEAR}"));
        let run = [&["run", "--yolo", "--json"], flag, &["work"]].concat();
        let result = bench.events(&run).pop().unwrap();
        assert_eq!((&result["status"], &result["exit_code"]), (&json!("limit"), &json!(4)));
        assert!(result["why"].as_str().unwrap().starts_with(why), "{result}");
        assert!(result["cost"].as_u64().unwrap() <= 100_000_000_000, "{result}");
        let longest: Vec<u64> =
            bench.requests().iter().map(|sent| sent["max_tokens"].as_u64().unwrap()).collect();
        assert_eq!(longest[..6], [400; 6], "{longest:?}");
        assert!(longest[6] < 400 && longest[7] < longest[6] && longest[7] >= 256, "{longest:?}");
        assert_eq!(longest.len(), 8);
        for (turn, sent) in (1..).zip(&bench.model.requests()) {
            let shown = bench.cairn(&["show", &format!("log:///1/{turn}#request")]);
            assert_eq!(shown.out.as_bytes(), &sent[..], "{}", shown.err);
        }
    }
}

// keeps: money-reserved
#[test]
fn five_runs_that_race_never_exceed_the_budget_of_their_session() {
    // Close to the worst case, and no longer than the shortest answer that is asked for: two calls at
    // once are within the budget, five are twice of it.
    let usage = json!({"input": 8500, "output": 250});
    let task = "work ".repeat(2400);
    let replies: Vec<Value> = (0..20)
        .map(|n| {
            let mut reply = works(n, usage.clone());
            reply["say"] = json!("one two three four five six");
            reply["pace_ms"] = json!(5);
            reply
        })
        .collect();
    let bench = Bench::new(Value::Array(replies));
    let priced = "[models.\"openai/test\"]\ninput = \"2\"\noutput = \"10\"\nmax_output = 400\n";
    bench.own("cairn.toml", &format!("[budgets]\nsession = \"0.05\"\n{priced}"));
    let racing: Vec<_> =
        (0..5).map(|_| bench.command(&["run", "--yolo", &task]).spawn().unwrap()).collect();
    let codes: Vec<Option<i32>> =
        racing.into_iter().map(|run| run.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes, [Some(4); 5], "none comes to an end by itself, so all pause");
    let used: Value =
        serde_json::from_str(&bench.cairn(&["usage", "--json", "--by", "session"]).out).unwrap();
    let cost = used["cost"].as_u64().unwrap();
    println!("{} calls cost {cost} of 50000000000", used["turns"]);
    assert!(cost <= 50_000_000_000, "{used}");
    assert!(cost > 0 && used["turns"].as_u64() == Some(bench.requests().len() as u64), "{used}");
    let lowered = "[budgets]\nsession = \"0.06\"\n";
    bench.temp.write("cairn.toml", lowered);
    let raised = bench.cairn(&["run", "--yolo", "work"]);
    assert!(raised.err.contains("a project may only lower budgets.session"), "{}", raised.err);
}

// keeps: money-reserved
#[test]
fn what_a_run_that_was_killed_had_set_aside_is_given_back() {
    let usage = json!({"input": 100, "output": 10});
    let mut slow = works(0, usage.clone());
    slow["say"] = json!("word ".repeat(2000));
    slow["pace_ms"] = json!(20);
    let bench = Bench::new(json!([slow, {"say": "ok", "usage": usage}]));
    bench.own("cairn.toml", &format!("[budgets]\nsession = \"0.05\"\n{DEAR}"));
    let mut talk = bench.talk(&["run", "--yolo", "--json", "work"]);
    talk.until("text/delta");
    let second = bench.cairn(&["run", "--yolo", "other"]);
    assert_eq!(second.code, 4, "{}", second.err);
    assert!(second.err.contains("calls of other runs may cost $0.040"), "{}", second.err);
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let mut third = bench.talk(&["run", "--yolo", "--json", "other"]);
    third.until("text/delta");
    third.child.kill().unwrap();
    third.child.wait().unwrap();
}

// keeps: money-reserved
#[test]
fn what_a_turn_will_show_as_it_stands_is_counted_before_the_model_is_asked() {
    let usage = json!({"input": 1000, "output": 10});
    let grow = "seq 100000 101999 | sed 's/$/ of the many lines/' > a.txt";
    let bench = Bench::new(json!([
        {"say": "<get path=\"a.txt\"/>", "usage": usage},
        {"say": format!("<sh command=\"{grow}\"/>"), "usage": usage},
        {"say": "<update status=\"200\">done</update>"},
    ]));
    bench.temp.write("a.txt", "short\n");
    let priced = "[models.\"openai/test\"]\ninput = \"10\"\noutput = \"10\"\nmax_output = 400\n";
    bench.own("cairn.toml", priced);
    let run = ["run", "--yolo", "--json", "--surface", "tags", "--max-cost", "0.20", "work"];
    let result = bench.events(&run).pop().unwrap();
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("limit"), &json!(4)), "{result}");
    assert_eq!(bench.requests().len(), 2, "the third would show 2000 lines");
    assert_eq!(bench.temp.read("a.txt").lines().count(), 2000);
}

#[test]
fn an_answer_is_as_long_as_the_configuration_says_where_no_money_is_counted() {
    for (config, expected) in [("max_output = 400", json!(400)), ("context = 9000", Value::Null)] {
        let bench = Bench::new(json!([{"say": "ok"}]));
        bench.own("cairn.toml", &format!("[models.\"openai/test\"]\n{config}\n"));
        let done = bench.cairn(&["run", "work"]);
        assert_eq!((done.code, done.out.as_str()), (0, "ok\n"), "{}", done.err);
        assert_eq!(bench.requests()[0]["max_tokens"], expected);
        let shown = bench.cairn(&["show", "log:///1/1#request"]);
        assert_eq!(shown.out.as_bytes(), &bench.model.requests()[0][..], "{}", shown.err);
    }
}
