//! What the oracle makes of gathered items: lists, pairs, products.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::data_oracle::{Answer, Output, Word};

pub fn spread(items: Vec<Value>) -> Output {
    Output { output: json!({"count": items.len()}), items: Some(items), gaps: BTreeMap::new(), way: None }
}

pub fn array(slots: &[Word], skipped: &str, on_error: &str) -> Answer {
    let mut gathered = Vec::new();
    for slot in slots {
        match slot {
            Word::Value(value) => gathered.push(value.clone()),
            Word::Failed(..) if on_error == "fail" => return Err("NODE_EXECUTION_FAILED"),
            Word::Failed(error, _) => gathered.extend((on_error == "include").then(|| error.clone())),
            Word::Done | Word::Silence if skipped == "omit" => {}
            Word::Done | Word::Silence if skipped == "marker" => gathered.push(json!({"skipped": true})),
            Word::Done | Word::Silence => gathered.push(Value::Null),
        }
    }
    Ok(Value::Array(gathered).into())
}

/// By index: a pair where both sides have a value; what stands alone must have been dropped.
pub fn zip(left: &[Word], right: &[Word]) -> Answer {
    let common = left.len().min(right.len());
    let alone = left.iter().skip(common).chain(right.iter().skip(common));
    if alone.into_iter().any(|word| word.brought().is_some()) {
        return Err("ZIP_LENGTH_MISMATCH");
    }
    let (mut items, mut gaps) = (Vec::new(), BTreeMap::new());
    for index in 0..left.len().max(right.len()) {
        let pair = [left.get(index), right.get(index)];
        let value = |side: usize| pair[side].and_then(Word::brought).cloned().unwrap_or(Value::Null);
        items.push(json!({"left": value(0), "right": value(1)}));
        if !pair.iter().all(|word| matches!(word, Some(Word::Value(_)))) {
            let failed = pair.into_iter().flatten().find_map(|word| match word {
                Word::Failed(error, _) => Some(Word::Failed(error.clone(), BTreeSet::new())),
                Word::Value(_) | Word::Done | Word::Silence => None,
            });
            gaps.insert(index, failed.unwrap_or(Word::Done));
        }
    }
    Ok(Output { gaps, ..spread(items) })
}

pub fn cross(left: &[Word], right: &[Word], most: usize) -> Answer {
    let there = |side: &[Word]| side.iter().filter_map(Word::brought).cloned().collect::<Vec<Value>>();
    let (left, right) = (there(left), there(right));
    if left.len() * right.len() > most {
        return Err("LIMIT_EXCEEDED");
    }
    let pairs =
        left.iter().flat_map(|left| right.iter().map(move |right| json!({"left": left, "right": right})));
    Ok(spread(pairs.collect()))
}
