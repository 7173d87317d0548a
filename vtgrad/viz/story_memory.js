// The memory at a step: for each storage its elements, and below them, on the same places, the
// tensors that show them and the values that are saved of them.

const COLOURS = 6;
const ROW_GAP = 6;
const CELL_HEIGHT = 30;
const BAR_HEIGHT = 12;
const LETTERS = 12;
// Smaller letters cannot be read: values that do not fit are listed below.
const SMALLEST = 8;

// A tensor keeps its colour through the story. Tensors of one storage have different ones.
function coloursOf(steps) {
  const colours = new Map();
  const counts = new Map();
  for (const step of steps) {
    for (const [id, tensor] of Object.entries(step.set?.tensors ?? {})) {
      if (colours.has(id)) continue;
      const count = counts.get(String(tensor.storage)) ?? 0;
      counts.set(String(tensor.storage), count + 1);
      colours.set(id, count % COLOURS);
    }
  }
  return colours;
}

// Where the elements of a storage are drawn. Rows of a matrix have a gap between them.
class Places {
  constructor(elements, perRow, width) {
    this.elements = elements;
    this.buckets = Math.min(elements, BUCKETS);
    this.width = width;
    const rows = perRow && elements <= BUCKETS ? Math.ceil(elements / perRow) : 1;
    this.perRow = rows > 1 ? perRow : this.buckets;
    this.gap = rows > 1 ? Math.min(ROW_GAP, width / (4 * rows)) : 0;
    this.cell = (width - 2 - this.gap * (rows - 1)) / Math.max(1, this.buckets);
  }

  left(bucket) {
    return 1 + bucket * this.cell + Math.floor(bucket / this.perRow) * this.gap;
  }

  // Rectangles for a span of buckets, one for each row that it is in.
  *rectangles([first, stop]) {
    while (first < stop) {
      const end = Math.min(stop, (Math.floor(first / this.perRow) + 1) * this.perRow);
      yield { x: this.left(first), width: (end - first) * this.cell };
      first = end;
    }
  }
}

function drawMemory(view) {
  const { after, before, step } = view;
  const cards = [];
  for (const [id, storage] of after.storages) cards.push(drawStorage(view, id, storage));
  const packed = [...after.saved].filter(([, saved]) => saved.storage === null);
  if (packed.length) cards.push(drawPacked(view, packed));
  const gone = (step.gone?.storages ?? []).map((id) => before.storages.get(String(id))?.name);
  if (gone.length) cards.push(make("p", { class: "gone" }, `Freed in this step: ${gone.join(", ")}`));
  if (!cards.length) cards.push(make("p", { class: "gone" }, "No tensor yet."));
  return cards;
}

function drawStorage(view, id, storage) {
  const { after, before, step, changes } = view;
  const old = before.storages.get(id);
  const written = writesOf(step).flatMap(({ storage, runs }) => (sameId(storage, id) ? runs : []));
  const on = (sort) => [...after[sort]].filter(([, record]) => sameId(record.storage, id));
  const places = new Places(storage.elements, rowLength(on("tensors"), storage), view.width);
  const moved = old && old.version !== storage.version;
  const version = moved ? `version ${old.version} → ${storage.version}` : `version ${storage.version}`;
  const change = changes.get(`storages ${id}`) ?? "";
  return make("section", { class: `storage ${change}`, "aria-label": storage.name }, [
    make("h3", {}, [
      make("b", {}, storage.name),
      ` ${storage.dtype}, ${count(storage.elements, "element")}, `,
      make("span", { class: moved ? "moved" : "" }, version),
      change ? badge(storageChange(storage, old, written)) : "",
    ]),
    drawElements(storage, old, written, places),
    ...on("tensors").map(([own, tensor]) => drawTensor(view, own, tensor, places)),
    ...on("saved").map(([own, saved]) => drawSaved(view, own, saved, places)),
  ]);
}

function storageChange(storage, old, written) {
  if (written.length) return "written";
  if (!old) return "new";
  return String(old.marked) === String(storage.marked) ? "changed" : "marks changed";
}

// What hooks have packed is in no memory that is known.
function drawPacked(view, packed) {
  const rows = packed.map(([id, saved]) => drawSaved(view, id, saved, null));
  return make("section", { class: "storage", "aria-label": "Packed by hooks" }, [
    make("h3", {}, "Packed by hooks"),
    ...rows,
  ]);
}

// The length of the last dimension of the tensor that has the whole storage.
function rowLength(tensors, storage) {
  for (const [, tensor] of tensors) {
    const size = tensor.shape.reduce((product, length) => product * length, 1);
    if (tensor.shape.length > 1 && tensor.base === null && size === storage.elements) {
      return tensor.shape[tensor.shape.length - 1];
    }
  }
  return 0;
}

function drawElements(storage, old, written, places) {
  const { values, elements } = storage;
  if (!elements) return "";
  const longest = Math.max(1, ...values.map((text) => lengthOf(text, LETTERS)));
  const size = Math.min(LETTERS, (LETTERS * (places.cell - 4)) / longest);
  const inCells = values.length === elements && size >= SMALLEST;
  const top = 9;
  const parts = [];
  for (const rectangle of places.rectangles([0, places.buckets])) {
    parts.push(draw("rect", { ...rectangle, y: top, height: CELL_HEIGHT, class: "cell" }));
  }
  const marked = covered(storage.marked ?? [], elements);
  const now = covered(written, elements);
  for (const span of spansOf(now)) {
    for (const rectangle of places.rectangles(span)) {
      parts.push(draw("rect", { ...rectangle, y: top, height: CELL_HEIGHT, class: "now" }));
    }
  }
  for (const span of spansOf(marked)) {
    for (const rectangle of places.rectangles(span)) {
      const y = top + CELL_HEIGHT - 4;
      parts.push(draw("rect", { ...rectangle, y, height: 4, class: "marked" }));
    }
  }
  for (let at = 0; inCells && at < elements; at++) {
    const x = places.left(at);
    const centre = x + places.cell / 2;
    if (at % places.perRow) {
      parts.push(draw("line", { x1: x, x2: x, y1: top, y2: top + CELL_HEIGHT, class: "edge" }));
    }
    if (now[at]) {
      const points = `${centre - 5},0 ${centre + 5},0 ${centre},7`;
      parts.push(draw("polygon", { points, class: "arrow" }));
    }
    const text = draw("text", { x: centre, y: top + 19, "font-size": size, class: "value" });
    text.textContent = values[at];
    if (old && old.values[at] !== values[at]) {
      text.classList.add("other");
      text.append(draw("title", {}, `before: ${old.values[at]}`));
    }
    parts.push(text);
  }
  const label = `Elements of ${storage.name}: ${listed(storage)}`;
  const height = top + CELL_HEIGHT + 2;
  const picture = draw("svg", { role: "img", "aria-label": label, width: places.width, height }, parts);
  return inCells ? picture : make("div", {}, [picture, make("p", {}, listed(storage))]);
}

function listed({ values, elements }) {
  return values.join(", ") + (values.length < elements ? ", …" : "");
}

function drawTensor(view, id, tensor, places) {
  const { after, colours } = view;
  const about = [`[${tensor.shape.join(", ")}]`];
  if (tensor.base !== null) about.push(`view of ${nameOf(view, "tensors", tensor.base)}`);
  const of = [...after.tensors].find(([, other]) => sameId(other.grad, id));
  if (of) about.push(`gradient of ${of[1].name}`);
  if (tensor.leaf && tensor.requires_grad) about.push("leaf, requires grad");
  const producer = tensor.grad_fn === null ? null : nameOf(view, "nodes", tensor.grad_fn);
  if (tensor.stale) about.push("its grad_fn is stale");
  else if (producer) about.push(`grad_fn ${producer}`);
  const kind = `tone${colours.get(id) ?? 0}${tensor.stale ? " stale" : ""}`;
  return drawRow(tensorChange(view, id, tensor), places, {
    kind: tensor.stale ? "tensor stale" : "tensor",
    name: tensor.name,
    about: about.join(" · "),
    layers: [{ mask: covered(tensor.runs, places.elements), kind }].concat(
      tensor.stale ? [{ mask: covered(tensor.runs, places.elements), kind: "hatched" }] : [],
    ),
  });
}

// What a step has done to a tensor itself; a write to its memory is shown there.
function tensorChange(view, id, tensor) {
  const old = view.before.tensors.get(id);
  if (!view.changes.has(`tensors ${id}`)) return null;
  if (!old) return "new";
  if (old.stale !== tensor.stale) return tensor.stale ? "now stale" : "rebuilt";
  if (!sameId(old.grad_fn, tensor.grad_fn)) return tensor.grad_fn === null ? null : "new grad_fn";
  if (!sameId(old.grad, tensor.grad)) return tensor.grad === null ? "no gradient" : "new gradient";
  return null;
}

const STATES = { intact: "✓ intact", overwritten: "✗ overwritten", kept: "↺ kept, overwritten" };

function drawSaved(view, id, saved, places) {
  const of = saved.tensor === null ? "" : ` · is ${nameOf(view, "tensors", saved.tensor)}`;
  const mask = covered(saved.runs, places?.elements ?? 0);
  const layers = [{ mask, kind: "held" }];
  if (places && saved.state !== "intact") {
    const hits = covered(view.after.hits.get(id) ?? saved.runs, places.elements);
    layers.push({ mask: hits.map((hit, at) => hit & mask[at]), kind: saved.state });
  }
  const state = STATES[saved.state];
  return drawRow(view.changes.get(`saved ${id}`), places, {
    kind: `saved ${saved.state}`,
    name: `saved ${saved.label}`,
    about: `of ${nameOf(view, "nodes", saved.node)}${of} · version ${saved.version}`,
    state:
      saved.write === null || saved.write === undefined
        ? make("span", { class: "state" }, state)
        : view.link(saved.write, `${state} by step ${saved.write}`, "state"),
    layers,
  });
}

function drawRow(change, places, { kind, name, about, state, layers }) {
  return make("div", { class: `row ${kind}${change ? " touched" : ""}` }, [
    make("p", {}, [
      make("b", {}, name),
      make("span", { class: "about" }, ` ${about}`),
      state ? " " : "",
      state ?? "",
      change ? badge(change) : "",
    ]),
    places?.elements ? drawBar(places, layers) : "",
  ]);
}

// A frame as long as the storage, and in it the elements that are shown or saved.
function drawBar(places, layers) {
  const parts = [];
  const add = (span, look) => {
    for (const rectangle of places.rectangles(span)) {
      parts.push(draw("rect", { ...rectangle, y: 1, height: BAR_HEIGHT, class: look }));
    }
  };
  add([0, places.buckets], "track");
  for (const { mask, kind } of layers) for (const span of spansOf(mask)) add(span, kind);
  const sizes = { width: places.width, height: BAR_HEIGHT + 2, "aria-hidden": "true" };
  return draw("svg", sizes, parts);
}

function badge(text) {
  return make("span", { class: `badge ${text}` }, text);
}
