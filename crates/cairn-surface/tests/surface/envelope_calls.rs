//! Calls in the envelope: which tool, which arguments, which nonce, which decision.

use crate::envelope::{check, check_next};

#[test]
fn names_are_the_turns_or_in_the_closed_table() {
    check(
        r#"{"tool":"Read","args":{"path":"a"},@}"#,
        "read a  (repaired: name: Read read as read)",
    );
    check(
        r#"{"tool":"read_file","args":{"path":"a"},@}"#,
        "read a  (repaired: name: read_file read as read)",
    );
    check(
        r#"{"tool":"read-file","args":{"path":"a"},@}"#,
        "read a  (repaired: name: read-file read as read)",
    );
    check(
        r#"{"tool":"MultiEdit","args":{"path":"a","edits":[{"old":"x","new":"y"}]},@}"#,
        "edit a  (repaired: name: MultiEdit read as multi_edit)",
    );
    check(
        r#"{"tool":"Shell","args":{"command":"ls"},@}"#,
        "exec ls  (repaired: name: Shell read as bash)",
    );
    check(
        r#"{"tool":"functions.bash","args":{"command":"ls"},@}"#,
        "exec ls  (repaired: name: functions.bash read as bash)",
    );
    check(
        r#"{"tool":"copy","args":{"from":"a","to":"b"},@}"#,
        r#"unknown_tool 1:9 there is no tool "copy" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
    check(
        r#"{"tool":"cp","args":{"from":"a","to":"b"},@}"#,
        r#"unknown_tool 1:9 there is no tool "cp" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
    check(
        r#"{"tool":"finde","args":{"text":"a"},@}"#,
        r#"unknown_tool 1:9 there is no tool "finde" in this turn; the nearest are find"#,
    );
    check(
        r#"{"tool":"web_search","args":{"query":"a"},@}"#,
        r#"unknown_tool 1:9 there is no tool "web_search" in this turn; the nearest are read"#,
    );
    check(
        r#"{"tool":"paint","args":{},@}"#,
        r#"unknown_tool 1:9 there is no tool "paint" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
    check(
        r#"{"tool":"","args":{},@}"#,
        r#"unknown_tool 1:9 there is no tool "" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
    check(
        r#"{"tool":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","args":{},@}"#,
        r#"unknown_tool 1:9 there is no tool "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
}

#[test]
fn arguments_are_what_the_tool_takes_and_nothing_is_coerced() {
    check(
        r#"{"tool":"read","args":{"file_path":"a","offset":2},@}"#,
        "read a  (repaired: argument: file_path read as path; argument: offset read as first)",
    );
    check(
        r#"{"tool":"edit","args":{"path":"a","old_string":"x","new_string":"y"},@}"#,
        "edit a  (repaired: argument: old_string read as old; argument: new_string read as new)",
    );
    check(r#"{"tool":"read","args":{},@}"#, "invalid_args 1:23 read: path is missing");
    check(r#"{"tool":"read","args":[],@}"#, "invalid_args 1:23 args must be an object");
    check(r#"{"tool":"read","args":null,@}"#, "invalid_args 1:23 args must be an object");
    check(
        r#"{"tool":"read","args":"{\"path\":\"a\"}",@}"#,
        "invalid_args 1:23 args must be an object",
    );
    check(
        r#"{"tool":"read","args":{"path":7},@}"#,
        "invalid_args 1:23 read: path must be a string",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","first":"3"},@}"#,
        "invalid_args 1:23 read: first must be a whole number from 0",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","first":-1},@}"#,
        "invalid_args 1:23 read: first must be a whole number from 0",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","first":1.5},@}"#,
        "invalid_args 1:23 read: first must be a whole number from 0",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","first":1e300},@}"#,
        "invalid_args 1:23 read: first must be a whole number from 0",
    );
    check(r#"{"tool":"read","args":{"path":"a","first":1e2},@}"#, "read a");
    check(r#"{"tool":"read","args":{"path":"a","first":3.0},@}"#, "read a");
    check(
        r#"{"tool":"read","args":{"path":"a","hashes":"true"},@}"#,
        "invalid_args 1:23 read: hashes must be true or false",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","hashes":1},@}"#,
        "invalid_args 1:23 read: hashes must be true or false",
    );
}

#[test]
fn arguments_that_mean_nothing_are_named() {
    check(
        r#"{"tool":"read","args":{"path":"a","scope":null},@}"#,
        "invalid_args 1:23 read: scope must be a string",
    );
    check(
        r#"{"tool":"read","args":{"path":"a","Path":"b"},@}"#,
        r#"invalid_args 1:23 read: there is no argument "Path"; the arguments are path, first, limit, hashes, scope, matching"#,
    );
    check(
        r#"{"tool":"read","args":{"path":"a","file":"b"},@}"#,
        "invalid_args 1:23 read: path is given twice",
    );
    check(
        r#"{"tool":"bash","args":{"command":"ls","sudo":true},@}"#,
        r#"invalid_args 1:23 bash: there is no argument "sudo"; the arguments are command, runtime, cwd, timeout_ms, background, wake"#,
    );
    check(
        r#"{"tool":"bash","args":{"command":"ls","wake":true},@}"#,
        "invalid_args 1:23 bash: wake is for a command in the background",
    );
    check(
        r#"{"tool":"find","args":{},@}"#,
        "invalid_args 1:23 find: neither glob nor text nor tags are given",
    );
    check(
        r#"{"tool":"find","args":{"tags":"a"},@}"#,
        "invalid_args 1:23 find: tags must be a list of strings",
    );
    check(
        r#"{"tool":"find","args":{"tags":["a",1]},@}"#,
        "invalid_args 1:23 find: tags must be a list of strings",
    );
    check(
        r#"{"tool":"edit","args":{"path":"a","old":"x"},@}"#,
        "invalid_args 1:23 edit: new is missing",
    );
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":{"old":"x","new":"y"}},@}"#,
        "invalid_args 1:29 multi_edit: edits must be a list of objects",
    );
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":[{"old":"x","new":1}]},@}"#,
        "invalid_args 1:29 multi_edit: edits[1].new must be a string",
    );
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":[{"old":"x"}]},@}"#,
        "invalid_args 1:29 multi_edit: edits[1].new is missing",
    );
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":[]},@}"#,
        "invalid_args 1:29 multi_edit: edits is empty",
    );
    check(
        r#"{"tool":"read","args":{"path":"a\nb"},@}"#,
        "invalid_args 1:23 read: path has control characters in it",
    );
    check(
        r#"{"tool":"remove","args":{"path":"a\u0000"},@}"#,
        "invalid_args 1:25 remove: path has control characters in it",
    );
    check(
        r#"{"tool":"remove","args":{"path":"a\u0085"},@}"#,
        "invalid_args 1:25 remove: path has control characters in it",
    );
    check(
        r#"{"tool":"find","args":{"glob":"*\t*"},@}"#,
        "invalid_args 1:23 find: glob has control characters in it",
    );
}

#[test]
fn the_nonce_is_the_turns() {
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":"N-2"}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":"n-1"}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":"N-1 "}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":""}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":1}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},"nonce":null}"#,
        "nonce_invalid 1:44 it is not the nonce of this turn",
    );
    check(r#"{"tool":"read","args":{"path":"a"},"nonce":"\u004e-1"}"#, "read a");
}

#[test]
fn after_a_result_a_reply_is_a_decision() {
    check_next(r#"{"action":"tool","tool":"read","args":{"path":"a"},@}"#, "read a");
    check_next(r#"{"action":"final",@}"#, "ends 200");
    check_next(
        "<think>done</think>```json\n{\"action\":\"final\",@}\n```",
        "ends 200  (repaired: thinking: thoughts taken out; fence: a fence taken off)  (thought: done)",
    );
    check_next(r#"{"tool":"read","args":{"path":"a"},@}"#, "invalid_format 1:1 action is missing");
    check_next(r#"{"action":"final"}"#, "invalid_format 1:1 nonce is missing");
    check_next(
        r#"{"action":"final","nonce":"old"}"#,
        "nonce_invalid 1:27 it is not the nonce of this turn",
    );
    check_next(
        r#"{"action":"final",@,"answer":"4"}"#,
        r#"invalid_format 1:42 there is no field "answer"; the fields are action, nonce"#,
    );
    check_next(
        r#"{"action":"final","tool":"read","args":{"path":"a"},@}"#,
        r#"invalid_format 1:26 there is no field "tool"; the fields are action, nonce"#,
    );
    check_next(r#"{"action":"tool",@}"#, "invalid_format 1:1 tool is missing");
    check_next(r#"{"action":"tool","tool":"read",@}"#, "invalid_format 1:1 args is missing");
    check_next(r#"{"action":"stop",@}"#, "invalid_format 1:11 action must be tool or final");
    check_next(r#"{"action":"Final",@}"#, "invalid_format 1:11 action must be tool or final");
    check_next(r#"{"action":1,@}"#, "invalid_format 1:11 action must be a string");
    check_next(
        r#"{"action":"tool","tool":"paint","args":{},@}"#,
        r#"unknown_tool 1:25 there is no tool "paint" in this turn; the tools are read, write, edit, find, remove, bash, multi_edit"#,
    );
    check_next(
        r#"{"action":"tool","tool":"read","args":{"path":1},@}"#,
        "invalid_args 1:39 read: path must be a string",
    );
    check_next(
        r#"{"action":"final",@}{"action":"final",@}"#,
        "multiple 1:33 there is a second object",
    );
    check_next(
        r#"{"action":"final",@} The answer is 4."#,
        "invalid_format 1:33 something stands behind the object",
    );
    check_next("All done.", "invalid_format 1:1 there is no object");
}
