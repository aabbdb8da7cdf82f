// Faults that power.mjs plants into a copy of the sources. Each replaces one place that must occur exactly once, and is
// active only in a process that asks for its number.

const CORE = "crates/core/src";
const TS = "ts";

/**
 * @typedef {object} Plant
 * @property {string} name
 * @property {string} from the folder of the place
 * @property {string} find
 * @property {(planted: string) => string} replace gets an expression that is true if the fault is active
 */

/** @type {Plant[]} */
export const plants = [
  {
    name: "an occurrence is skipped",
    from: CORE,
    find: "        if let Some(used) = self.used.get_mut(position as usize) {\n            *used = true;\n",
    replace: (planted) =>
      `        if ${planted} && let Some(after) = self.next.get(position as usize).copied().filter(|after| *after != NONE) {\n            self.used[after as usize] = true;\n        }\n        if let Some(used) = self.used.get_mut(position as usize) {\n            *used = true;\n`,
  },
  {
    name: "an entry answers again and again",
    from: CORE,
    find: "            *used = true;\n            return Some(Found::Call(position as usize));",
    replace: (planted) => `            *used = !${planted};\n            return Some(Found::Call(position as usize));`,
  },
  {
    name: "a lane is ignored",
    from: CORE,
    find: "        let in_lane = lane.and_then(",
    replace: (planted) => `        let in_lane = lane.filter(|_| !${planted}).and_then(`,
  },
  {
    name: "a frame is found without its input",
    from: CORE,
    find: "            let wanted = (place.clone(), agent_id.clone(), input);\n",
    replace: (planted) =>
      `            let mut wanted = (place.clone(), agent_id.clone(), input);\n            if ${planted} && let Some(other) = index.by_input.keys().filter(|(_, agent, _)| agent == agent_id).min_by_key(|key| format!("{key:?}")) {\n                wanted = other.clone();\n            }\n`,
  },
  {
    name: "equal frames are found from the last to the first",
    from: CORE,
    find: "while let Some(position) = queue.pop_front() {",
    replace: (planted) => `while let Some(position) = if ${planted} { queue.pop_back() } else { queue.pop_front() } {`,
  },
  {
    name: "a call in flight is not an occurrence",
    from: CORE,
    find: "        for (position, call) in positions.zip(generation.calls.iter().rev()) {\n",
    replace: (planted) =>
      `        for (position, call) in positions.zip(generation.calls.iter().rev()) {\n            if ${planted} && call.outcome == Outcome::Pending {\n                continue;\n            }\n`,
  },
  {
    name: "a tombstone is answered",
    from: CORE,
    find: "            Outcome::Tombstone(_) => Verdict::Miss(Miss::Tombstone),\n",
    replace: (planted) =>
      `            Outcome::Tombstone(_) if ${planted} => Verdict::Output(Value { text: JsonText::trusted("null".to_owned()), types: None }),\n            Outcome::Tombstone(_) => Verdict::Miss(Miss::Tombstone),\n`,
  },
  {
    name: "a request with hidden content is answered",
    from: CORE,
    find: "_ if !exact && self.flags.has(Flag::ExactRequests) =>",
    replace: (planted) => `_ if !exact && self.flags.has(Flag::ExactRequests) && !${planted} =>`,
  },
  {
    name: "a handled failure is executed again",
    from: CORE,
    find: "if failed.handled {\n            return Self::Marked;",
    replace: (planted) =>
      `if ${planted} {\n            return Self::Nothing;\n        }\n        if failed.handled {\n            return Self::Marked;`,
  },
  {
    name: "the failure that ended the run is replayed",
    from: CORE,
    find: "            Self::Auto => ",
    replace: (planted) => `            Self::Auto => !${planted} && `,
  },
  {
    name: "a frame that completed has not handled its failures",
    from: CORE,
    find: "        if completed {\n            return Self::Completed;",
    replace: (planted) => `        if completed && !${planted} {\n            return Self::Completed;`,
  },
  {
    name: "a dump of a resumed run loses what the run has not reached",
    from: CORE,
    find: "        if keep == Keep::Delivered {\n            return None;",
    replace: (planted) => `        if keep == Keep::Delivered || ${planted} {\n            return None;`,
  },
  {
    name: "a fork keeps what was started after a dropped call",
    from: CORE,
    find: "        self.0.is_some_and(|cut| order > Some(cut))",
    replace: (planted) => `        !${planted} && self.0.is_some_and(|cut| order > Some(cut))`,
  },
  {
    name: "a restore after a span leaves its end out",
    from: CORE,
    find: "(Some(position), Anchor::After) => Ok(position + 1),",
    replace: (planted) => `(Some(position), Anchor::After) => Ok(position + usize::from(!${planted})),`,
  },
  {
    name: "a restore before a span leaves out what came last",
    from: CORE,
    find: "(Some(position), Anchor::Before) => Ok(position),",
    replace: (planted) => `(Some(position), Anchor::Before) => Ok(position - usize::from(${planted} && position > 1)),`,
  },
  {
    name: "a restore takes an attempt for a call of its own",
    from: CORE,
    find: "        fields.present(Field::Attempt)?;\n",
    replace: (planted) =>
      `        if ${planted} {\n            return None;\n        }\n        fields.present(Field::Attempt)?;\n`,
  },
  {
    name: "a call inside a call answers outside of it",
    from: CORE,
    find: "fn place_of(within: Option<&JsonStr>, flags: Flags) -> Place {\n",
    replace: (planted) =>
      `fn place_of(within: Option<&JsonStr>, flags: Flags) -> Place {\n    if ${planted} {\n        return None;\n    }\n`,
  },
  {
    name: "what a call had asked does not answer when it is executed again",
    from: CORE,
    find: "            Some(outer) => Some(Some(self.outers.borrow().get(outer)?.clone())),",
    replace: (planted) =>
      `            Some(_) if ${planted} => None,\n            Some(outer) => Some(Some(self.outers.borrow().get(outer)?.clone())),`,
  },
  {
    name: "a life of an agent starts with the first props",
    from: CORE,
    find: "            props: generation.props.clone(),\n",
    replace: (planted) => `            props: generation.props.clone().filter(|_| !${planted}),\n`,
  },
  {
    name: "a result loses the types that JSON lacks",
    from: TS,
    find: 'const encoded = { text: recorded.text ?? "null", types: recorded.types ?? null };',
    replace: (planted) =>
      `const encoded = { text: recorded.text ?? "null", types: ${planted} ? null : (recorded.types ?? null) };`,
  },
  {
    name: "ends are released in the order of their arrival",
    from: TS,
    find: "    return this.#wait(order ?? Number.MAX_SAFE_INTEGER, tick);",
    replace: (planted) => `    return this.#wait(${planted} ? 1 : (order ?? Number.MAX_SAFE_INTEGER), tick);`,
  },
  {
    name: "ends of one turn are released apart",
    from: TS,
    find: "    if (first?.tick === undefined) return;",
    replace: (planted) => `    if (first?.tick === undefined || ${planted}) return;`,
  },
  {
    name: "types of content are left out of the hash",
    from: TS,
    find: '"name":${JSON.stringify(name)}${typed}}`',
    replace: (planted) => `"name":\${JSON.stringify(name)}\${${planted} ? "" : typed}}\``,
  },
  {
    name: "an attempt is a call of its own",
    from: TS,
    find: "    if (number === 0 || calls === undefined) return undefined;",
    replace: (planted) => `    if (number === 0 || calls === undefined || ${planted}) return undefined;`,
  },
  {
    name: "an attempt is given to a sibling",
    from: TS,
    find: "    return live.length === 1 ? live[0] : undefined;",
    replace: (planted) => `    return live.length === 1 || ${planted} ? live[0] : undefined;`,
  },
];
