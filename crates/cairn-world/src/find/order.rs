//! Pieces of work in an order that is fixed, done in any order by several hands. A piece may turn
//! into several that take its place. Finished pieces come out in order, and few of them wait.

/// How many finished pieces may wait for one before them.
const WAITING: usize = 1024;

/// A piece of work.
pub(crate) enum Piece<T, D> {
    /// To be done.
    Open(T),
    /// Done, with what came of it.
    Done(D),
}

enum State<T, D> {
    Open(T),
    Taken,
    Done(D),
    /// Done, and nothing came of it.
    Empty,
}

impl<T, D> State<T, D> {
    fn is_finished(&self) -> bool {
        matches!(self, State::Done(_) | State::Empty)
    }
}

impl<T, D> From<Piece<T, D>> for State<T, D> {
    fn from(piece: Piece<T, D>) -> Self {
        match piece {
            Piece::Open(task) => State::Open(task),
            Piece::Done(done) => State::Done(done),
        }
    }
}

struct Slot<T, D> {
    state: State<T, D>,
    next: Option<usize>,
}

/// Names a piece that was taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(usize);

/// Pieces in their order.
pub(crate) struct Order<T, D> {
    slots: Vec<Slot<T, D>>,
    free: Vec<usize>,
    first: Option<usize>,
    done: usize,
}

impl<T, D> Order<T, D> {
    /// These pieces.
    pub(crate) fn new(pieces: Vec<Piece<T, D>>) -> Self {
        let slots = vec![Slot { state: State::Taken, next: None }];
        let mut order = Self { slots, free: Vec::new(), first: Some(0), done: 0 };
        order.finish(Place(0), pieces);
        order
    }

    /// The first open piece. None when there is none, or when too much that is finished already waits
    /// for what others have in hand; a piece that nothing finished stands before can always be taken,
    /// so that something always goes on.
    pub(crate) fn take(&mut self) -> Option<(Place, T)> {
        let mut at = self.first;
        while let Some(place) = at {
            let slot = &mut self.slots[place];
            match &slot.state {
                State::Open(_) => {
                    let State::Open(task) = std::mem::replace(&mut slot.state, State::Taken) else {
                        return None;
                    };
                    return Some((Place(place), task));
                }
                State::Done(_) | State::Empty if self.done >= WAITING => return None,
                State::Done(_) | State::Empty | State::Taken => at = slot.next,
            }
        }
        None
    }

    /// Puts what came of a piece in its place.
    pub(crate) fn finish(&mut self, place: Place, pieces: Vec<Piece<T, D>>) {
        let Place(first) = place;
        let after = self.slots[first].next;
        let mut pieces = pieces.into_iter();
        let state = pieces.next().map_or(State::Empty, State::from);
        self.done += usize::from(state.is_finished());
        self.slots[first].state = state;
        let mut last = first;
        for state in pieces.map(State::from) {
            self.done += usize::from(state.is_finished());
            let new = self.put(Slot { state, next: after });
            self.slots[last].next = Some(new);
            last = new;
        }
    }

    /// The next finished piece, when everything before it came out.
    pub(crate) fn next_done(&mut self) -> Option<D> {
        while let Some(at) = self.first {
            let slot = &mut self.slots[at];
            if !slot.state.is_finished() {
                return None;
            }
            let state = std::mem::replace(&mut slot.state, State::Empty);
            self.first = slot.next;
            self.free.push(at);
            self.done -= 1;
            if let State::Done(done) = state {
                return Some(done);
            }
        }
        None
    }

    /// Whether everything came out.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    fn put(&mut self, slot: Slot<T, D>) -> usize {
        match self.free.pop() {
            Some(at) => {
                self.slots[at] = slot;
                at
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A tree of pieces: leaves are results, branches turn into their children.
    #[derive(Debug, Clone)]
    enum Tree {
        Leaf(u32),
        Branch(Vec<Tree>),
    }

    fn tree() -> impl Strategy<Value = Tree> {
        any::<u32>().prop_map(Tree::Leaf).prop_recursive(5, 400, 12, |inner| {
            proptest::collection::vec(inner, 0..12).prop_map(Tree::Branch)
        })
    }

    fn leaves(tree: &Tree) -> Vec<u32> {
        match tree {
            Tree::Leaf(leaf) => vec![*leaf],
            Tree::Branch(trees) => trees.iter().flat_map(leaves).collect(),
        }
    }

    proptest! {
        #[test]
        fn results_come_out_in_order_whoever_finishes_first(
            tree in tree(), hands in 1usize..5, picks in proptest::collection::vec(0usize..5, 1..50),
        ) {
            let mut order = Order::new(vec![Piece::Open(tree.clone())]);
            let (mut taken, mut out) = (Vec::new(), Vec::new());
            let mut picks = picks.into_iter().cycle();
            while !order.is_empty() {
                while taken.len() < hands && let Some(piece) = order.take() {
                    taken.push(piece);
                }
                prop_assert!(!taken.is_empty(), "nothing goes on");
                let at = picks.next().unwrap_or(0) % taken.len();
                let (place, task) = taken.swap_remove(at);
                order.finish(place, match task {
                    Tree::Leaf(leaf) => vec![Piece::Done(leaf)],
                    Tree::Branch(trees) => trees.into_iter().map(Piece::Open).collect(),
                });
                while let Some(done) = order.next_done() {
                    out.push(done);
                }
            }
            prop_assert_eq!(out, leaves(&tree));
        }
    }

    #[test]
    fn few_finished_pieces_wait_for_one_that_is_slow() {
        let mut order = Order::new((0..10_000).map(Piece::Open).collect());
        let slow = order.take().map(|(place, _)| place);
        let mut finished = 0;
        while let Some((place, task)) = order.take() {
            order.finish(place, vec![Piece::Done(task)]);
            finished += 1;
        }
        assert_eq!(finished, WAITING);
        assert_eq!(order.next_done(), None);
        order.finish(slow.unwrap(), Vec::new());
        assert_eq!(std::iter::from_fn(|| order.next_done()).count(), WAITING);
        assert_eq!(order.done, 0);
        assert!(order.take().is_some());
    }
}
