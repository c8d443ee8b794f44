//! Ops and the calls that ask for them.

use crate::actions::{action, actions};
use cairn_surface::{native, shown};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_call_that_asks_for_an_op_asks_for_that_op(action in action()) {
        let (tool, args) = native::call_of(&action).expect("every op has a call");
        let again = native::parse_call(tool, args.clone());
        prop_assert_eq!(again.action.as_ref(), Ok(&action));
        let written = native::parse(tool.name, &serde_json::Value::Object(args).to_string());
        prop_assert_eq!(written.action, Ok(action));
        prop_assert!(written.repairs.is_empty());
    }

    #[test]
    fn an_op_is_shown_with_its_name_and_nothing_that_says_nothing(actions in actions()) {
        for action in actions {
            let shown = shown(&action);
            let fields = shown.as_object().expect("an object");
            prop_assert!(fields["op"].as_str().is_some_and(|op| !op.is_empty()));
            prop_assert!(fields.values().all(|value| !value.is_null()));
        }
    }
}

#[test]
fn every_skin_names_arguments_that_its_tool_has() {
    for skin in native::skins() {
        let has = |name: &str| skin.tool.params.iter().any(|param| param.name == name);
        assert!(skin.target.iter().all(|(name, _)| has(name)), "{}", skin.tool.name);
        let slots = [skin.signal, skin.body.map(|(name, _)| name), skin.bare];
        assert!(slots.into_iter().flatten().all(has), "{}", skin.tool.name);
    }
    let skinned: Vec<&str> = native::skins().iter().map(|skin| skin.tool.name).collect();
    for tool in native::tools() {
        assert!(skinned.contains(&tool.name), "{} has no skin", tool.name);
    }
}
