// What there is at a step. A step has the records that are new or changed, and the names of those
// that are gone: the state at a step is what the steps up to it have left.

const SORTS = ["storages", "tensors", "saved", "nodes"];

function emptyState() {
  const state = { hits: new Map() };
  for (const sort of SORTS) state[sort] = new Map();
  return state;
}

function takeStep(state, step) {
  for (const sort of SORTS) {
    for (const id of step.gone?.[sort] ?? []) state[sort].delete(String(id));
  }
  for (const write of writesOf(step)) addHits(state, write);
  for (const sort of SORTS) {
    for (const [id, record] of Object.entries(step.set?.[sort] ?? {})) state[sort].set(id, record);
  }
}

// The elements that were written since a value was saved, by saved value. What the step itself saves
// is not among them: its record says whether it is overwritten.
function addHits(state, write) {
  for (const [id, record] of state.saved) {
    if (sameId(record.storage, write.storage)) {
      state.hits.set(id, [...(state.hits.get(id) ?? []), ...write.runs]);
    }
  }
}

// An operator may write several storages.
function writesOf(step) {
  return step.writes ?? (step.write ? [step.write] : []);
}

// Keys of a record are texts, where other records may have numbers.
function sameId(one, other) {
  return one === other || (one !== null && other !== null && String(one) === String(other));
}

function stateAt(steps, number) {
  const state = emptyState();
  for (let at = 0; at <= number; at++) takeStep(state, steps[at]);
  return state;
}

// Of each record that a step has touched: "new" or "changed".
function changesOf(before, after, step) {
  const found = new Map();
  for (const sort of SORTS) {
    for (const id of Object.keys(step.set?.[sort] ?? {})) {
      if (after[sort].has(id)) found.set(`${sort} ${id}`, before[sort].has(id) ? "changed" : "new");
    }
  }
  return found;
}

// Elements are drawn in buckets: one for each element, or one for several of them.
const BUCKETS = 600;

// Which buckets have an element of one of the runs.
function covered(runs, elements) {
  const count = Math.min(elements, BUCKETS);
  const mask = new Uint8Array(count);
  for (const run of runs) coverRun(mask, run, elements);
  return mask;
}

function coverRun(mask, [start, stop, step], elements) {
  const size = elements / mask.length;
  const stride = Math.max(1, step ?? 1);
  const first = Math.max(0, Math.floor(start / size));
  const last = Math.min(mask.length, Math.ceil(stop / size));
  for (let bucket = first; bucket < last; bucket++) {
    const from = Math.ceil(bucket * size);
    const next = start + Math.ceil(Math.max(0, from - start) / stride) * stride;
    if (next < Math.min(stop, (bucket + 1) * size)) mask[bucket] = 1;
  }
}

// [first, after the last] of each row of buckets that are in a mask.
function spansOf(mask) {
  const spans = [];
  for (let at = 0; at < mask.length; at++) {
    if (!mask[at]) continue;
    const first = at;
    while (at < mask.length && mask[at]) at++;
    spans.push([first, at]);
  }
  return spans;
}
