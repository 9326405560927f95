//! Static scopes: which fan-outs are open at each node, known before anything runs.

use crate::nodes::ScopeEffect;

/// Why a node has no scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeProblem {
    /// Edges from different fan-outs meet at a node that cannot join them.
    Mixed { node: usize },
    /// A fan-out is closed where none is open.
    NothingOpen { node: usize },
}

/// A predecessor, and whether its error edge leads here: what a split says when it fails, it says outside its fan-out.
pub type Parent = (usize, bool);

/// Computes the scope of every node. `order` is topological; `incoming` are the predecessors of each node; a node that
/// `joins` takes edges from outer fan-outs too: what they carry holds for all items inside.
pub fn scopes(
    order: &[usize],
    incoming: &[Vec<Parent>],
    effects: &[ScopeEffect],
    joins: &[bool],
) -> (Vec<Vec<usize>>, Vec<ScopeProblem>) {
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); effects.len()];
    let mut behind = inside.clone();
    let mut problems = Vec::new();
    for &node in order {
        let scope_of = |&(parent, on_error): &Parent| match (on_error, effects[parent]) {
            (true, ScopeEffect::Push) => &inside[parent],
            _ => &behind[parent],
        };
        let arriving = || incoming[node].iter().map(scope_of);
        let scope = arriving().max_by_key(|scope| scope.len()).cloned().unwrap_or_default();
        let fits = |other: &Vec<usize>| if joins[node] { scope.starts_with(other) } else { *other == scope };
        if !arriving().all(fits) {
            problems.push(ScopeProblem::Mixed { node });
        }
        let mut leaving = scope.clone();
        match effects[node] {
            ScopeEffect::Same => {}
            ScopeEffect::Push => leaving.push(node),
            ScopeEffect::Pop if leaving.pop().is_none() => problems.push(ScopeProblem::NothingOpen { node }),
            ScopeEffect::Pop => {}
        }
        inside[node] = scope;
        behind[node] = leaving;
    }
    (inside, problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScopeEffect::{Pop, Push, Same};

    /// Nodes are in topological order already; `edges` are pairs of places.
    fn check(
        effects: &[ScopeEffect],
        edges: &[(usize, usize)],
        expected: &[&[usize]],
        problems: &[ScopeProblem],
    ) {
        let order: Vec<usize> = (0..effects.len()).collect();
        let mut incoming = vec![Vec::new(); effects.len()];
        edges.iter().for_each(|&(from, to)| incoming[to].push((from, false)));
        let joins = vec![false; effects.len()];
        let (found, complaints) = scopes(&order, &incoming, effects, &joins);
        assert_eq!(found, expected);
        assert_eq!(complaints, problems);
    }

    #[test]
    fn fan_outs_nest() {
        let chain = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)];
        check(&[Same, Push, Push, Pop, Pop, Same], &chain, &[&[], &[], &[1], &[1, 2], &[1], &[]], &[]);
    }

    #[test]
    fn what_does_not_nest_is_named() {
        check(&[Same, Pop], &[(0, 1)], &[&[], &[]], &[ScopeProblem::NothingOpen { node: 1 }]);
        let diamond = [(0, 1), (0, 2), (1, 2)];
        check(&[Same, Push, Same], &diamond, &[&[], &[], &[1]], &[ScopeProblem::Mixed { node: 2 }]);
    }
}
