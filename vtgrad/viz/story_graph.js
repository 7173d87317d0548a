// The graph at a step: results above, leaves below, so that backward goes down along the arrows.

const NODE_LETTERS = 12;
const NODE_PADDING = 14;
const LINE = 15;
const BETWEEN = 12;
const LAYER_GAP = 34;
const BEND_WIDTH = 10;
// More nodes cannot be made out.
const SHOWN_NODES = 120;

function drawGraph(view) {
  const { after } = view;
  const all = after.nodes.size;
  if (!all) return [make("p", { class: "gone" }, "Nothing is recorded yet.")];
  const nodes = shownNodes(view);
  const texts = new Map(nodes.map(([id, node]) => [id, textsOf(view, id, node)]));
  // Nodes keep their places through the story if it has few of them.
  const stable = view.every.size <= SHOWN_NODES;
  const layout = stable
    ? (view.every.layout ??= layOut(view.every, view.widest))
    : layOut(new Map(nodes), (id) => widthOf(texts.get(id)));
  const parts = [];
  for (const [id] of nodes) {
    layout.edges.get(id).forEach((edge, at) => {
      if (texts.has(edge.to)) parts.push(drawEdge(layout, id, at, edge));
    });
  }
  for (const [id, node] of nodes) parts.push(drawNode(view, id, node, layout, texts.get(id)));
  const bounds = boundsOf(layout, nodes.map(([id]) => id));
  const label = nodes.map(([id, node]) => described(view, id, node)).join("; ");
  const { left, top, width, height } = bounds;
  const sizes = { viewBox: `${left} ${top} ${width} ${height}`, width, height };
  const picture = draw("svg", { role: "img", "aria-label": `Graph: ${label}`, ...sizes }, parts);
  // Letters get smaller up to a bound; then the panel scrolls.
  picture.style.maxWidth = `max(100%, ${0.7 * width}px)`;
  const missing = all - nodes.length;
  const text = `${count(missing, "node")} of the graph ${missing === 1 ? "is" : "are"} not drawn.`;
  const note = missing ? [make("p", { class: "gone" }, text)] : [];
  return [...note, picture];
}

// All nodes; of a larger graph those around the ones that the step has touched, or else the latest.
function shownNodes({ after, changes }) {
  const nodes = [...after.nodes];
  const touched = nodes.findIndex(([id]) => changes.has(`nodes ${id}`));
  const middle = touched < 0 ? nodes.length : touched;
  const first = Math.min(middle - SHOWN_NODES / 2, nodes.length - SHOWN_NODES);
  return nodes.slice(Math.max(0, first)).slice(0, SHOWN_NODES);
}

// No room is left for nodes that come later, or are gone.
function boundsOf(layout, ids) {
  const boxes = ids.map((id) => layout.boxes.get(id));
  const points = ids.flatMap((id) =>
    layout.edges.get(id).flatMap((_edge, at) => layout.bends.get(`${id} ${at}`)),
  );
  const left = Math.min(...boxes.map((box) => box.x), ...points.map((point) => point.x)) - 4;
  const right = Math.max(...boxes.map((box) => box.x + box.width), ...points.map((point) => point.x));
  const top = Math.min(...boxes.map((box) => box.y)) - 4;
  const bottom = Math.max(...boxes.map((box) => box.y)) + layout.box;
  return { left, top, width: right + 4 - left, height: bottom + 4 - top };
}

function textsOf(view, id, node) {
  const marks = { recorded: "", running: "▶ ", ran: "✓ " };
  const lines = [`${marks[node.state] ?? ""}${shortName(node)}`];
  const names = namesAt(view, id, node);
  if (names.length) lines.push(names.join(", "));
  const saved = [...view.after.saved].filter(([, record]) => sameId(record.node, id));
  if (saved.length) lines.push(saved.map(([, one]) => `${one.label} ${STATES[one.state][0]}`).join("  "));
  return lines;
}

// The tensors that a node has made, or the leaf that it fills.
function namesAt(view, id, node) {
  if (node.tensor !== null && node.tensor !== undefined) {
    const leaf = view.after.tensors.get(String(node.tensor));
    return leaf ? [leaf.name] : [];
  }
  const made = [...view.after.tensors.values()].filter((one) => sameId(one.grad_fn, id));
  return made.map((one) => (one.stale ? `${one.name} (stale)` : one.name));
}

function shortName(node) {
  return node.name.split("::").pop();
}

function described(view, id, node) {
  const names = namesAt(view, id, node);
  const to = node.next
    .filter((edge) => edge !== null)
    .map((edge) => view.after.nodes.get(String(edge[0])))
    .filter((next) => next !== undefined)
    .map(shortName);
  const of = names.length ? ` of ${names.join(", ")}` : "";
  return `${shortName(node)}${of}, ${node.state}${to.length ? `, leads to ${to.join(" and ")}` : ""}`;
}

function widthOf(texts) {
  return Math.max(...texts.map((text) => lengthOf(text, NODE_LETTERS))) + NODE_PADDING;
}

function drawNode(view, id, node, layout, texts) {
  const { x, y, width } = layout.boxes.get(id);
  const height = layout.box;
  // A node that has run before the step is not what the step is about.
  const change = node.state === "ran" ? "" : (view.changes.get(`nodes ${id}`) ?? "");
  const leaf = node.tensor !== null && node.tensor !== undefined ? "leaf" : "";
  const parts = [draw("rect", { x, y, width, height, rx: leaf ? 14 : 3 })];
  const first = y + (height - LINE * texts.length) / 2 + 11;
  texts.forEach((line, at) => {
    const kind = at ? (line.includes("✗") ? "small bad" : "small") : "name";
    const text = draw("text", { x: x + width / 2, y: first + LINE * at, class: kind });
    text.textContent = line;
    parts.push(text);
  });
  return draw("g", { class: `node ${node.state} ${change} ${leaf}` }, parts);
}

function drawEdge(layout, id, at, edge) {
  const from = layout.boxes.get(id);
  const to = layout.boxes.get(edge.to);
  const points = [
    { x: from.x + from.width / 2, y: from.y + layout.box },
    ...(layout.bends.get(`${id} ${at}`) ?? []),
    { x: to.x + to.width / 2, y: to.y - 1 },
  ];
  let path = `M${points[0].x},${points[0].y}`;
  for (let next = 1; next < points.length; next++) {
    const [a, b] = [points[next - 1], points[next]];
    const middle = (a.y + b.y) / 2;
    path += ` C${a.x},${middle} ${b.x},${middle} ${b.x},${b.y}`;
  }
  if (edge.inner) return draw("path", { d: path, class: "inner" });
  const end = points[points.length - 1];
  const tip = `${end.x - 4},${end.y - 7} ${end.x + 4},${end.y - 7} ${end.x},${end.y}`;
  const parts = [draw("path", { d: path }), draw("polygon", { points: tip })];
  if (edge.number) {
    const label = draw("text", { x: end.x + 7, y: end.y - 4 });
    label.textContent = edge.number;
    parts.push(label);
  }
  return draw("g", { class: "arrow-of-gradients" }, parts);
}

// Sugiyama's layout: layers, an order in each that crosses few edges, then places. An edge over
// several layers has a bend in each of them.
function layOut(nodes, width) {
  const edges = edgesOf(nodes);
  const heights = heightsOf(edges);
  const layers = Array.from({ length: Math.max(...heights.values()) + 1 }, () => []);
  const items = new Map();
  const add = (id, layer, size) => {
    const item = { id, layer, width: size, above: [], below: [], x: 0 };
    items.set(id, item);
    layers[layer].push(item);
    return item;
  };
  for (const id of nodes.keys()) add(id, heights.get(id), width(id));
  const bends = new Map();
  for (const [id, out] of edges) {
    out.forEach(({ to }, at) => {
      let upper = items.get(id);
      const bent = [];
      for (let layer = upper.layer - 1; layer > items.get(to).layer; layer--) {
        const bend = add(`bend ${id} ${at} ${layer}`, layer, BEND_WIDTH);
        join(upper, bend);
        bent.push(bend);
        upper = bend;
      }
      join(upper, items.get(to));
      bends.set(`${id} ${at}`, bent);
    });
  }
  order(layers);
  return { edges, ...placed(layers, nodes, bends, items) };
}

// The edges from each node. A write through a view has a node inside of its own: that has the edges of
// the one around it, and a line leads to it.
function edgesOf(nodes) {
  const inside = new Set([...nodes.values()].map((node) => String(node.inner)));
  const edges = new Map();
  for (const [id, node] of nodes) {
    const found = (inside.has(id) ? [] : node.next)
      .filter((edge) => edge !== null && nodes.has(String(edge[0])))
      .map(([to, number]) => ({ to: String(to), number, inner: false }));
    if (nodes.has(String(node.inner))) {
      found.push({ to: String(node.inner), number: 0, inner: true });
    }
    edges.set(id, found);
  }
  return edges;
}

function join(upper, lower) {
  upper.below.push(lower);
  lower.above.push(upper);
}

// The layer of each node: above all that it leads to. A node that leads nowhere, a leaf, is just below
// the lowest that leads to it.
function heightsOf(edges) {
  const ids = [...edges.keys()];
  const users = new Map(ids.map((id) => [id, []]));
  const waiting = new Map();
  for (const [id, out] of edges) {
    const found = new Set(out.map((edge) => edge.to));
    waiting.set(id, found.size);
    for (const end of found) users.get(end).push(id);
  }
  const heights = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => !waiting.get(id));
  for (const id of ready) {
    for (const user of users.get(id)) {
      heights.set(user, Math.max(heights.get(user), heights.get(id) + 1));
      waiting.set(user, waiting.get(user) - 1);
      if (!waiting.get(user)) ready.push(user);
    }
  }
  for (const [id, out] of edges) {
    const above = users.get(id);
    if (above.length && !out.length) {
      heights.set(id, Math.min(...above.map((user) => heights.get(user))) - 1);
    }
  }
  return heights;
}

// Each layer in the order of the middle of its neighbours, from below and from above in turn.
function order(layers) {
  for (let sweep = 0; sweep < 6; sweep++) {
    const up = sweep % 2 === 0;
    for (const layer of up ? layers : [...layers].reverse()) {
      layer.forEach((item, at) => (item.at = at));
      for (const item of layer) {
        const beside = up ? item.below : item.above;
        item.middle = beside.length ? mean(beside.map((other) => other.at)) : item.at;
      }
      layer.sort((one, other) => one.middle - other.middle);
      layer.forEach((item, at) => (item.at = at));
    }
  }
}

function placed(layers, nodes, bends, items) {
  for (const layer of [...layers].reverse()) settle(layer, (item) => item.above);
  for (const layer of layers) settle(layer, (item) => item.below);
  for (const layer of [...layers].reverse()) settle(layer, (item) => item.above);
  const box = 3 * LINE + 8;
  const top = (item) => (layers.length - 1 - item.layer) * (box + LAYER_GAP);
  const boxes = new Map();
  for (const id of nodes.keys()) {
    const item = items.get(id);
    boxes.set(id, { x: item.x, y: top(item), width: item.width });
  }
  const places = new Map();
  for (const [key, bent] of bends) {
    places.set(key, bent.map((item) => ({ x: item.x + item.width / 2, y: top(item) + box / 2 })));
  }
  return { boxes, bends: places, box };
}

// Places of a layer: as near to the middle of neighbours as the order and the widths allow.
function settle(layer, neighbours) {
  let free = -Infinity;
  const wished = layer.map((item) => {
    const beside = neighbours(item);
    const middle = beside.length ? mean(beside.map((other) => other.x + other.width / 2)) : null;
    return middle === null ? item.x : middle - item.width / 2;
  });
  layer.forEach((item, at) => {
    item.x = Math.max(wished[at], free);
    free = item.x + item.width + BETWEEN;
  });
  const shift = mean(layer.map((item, at) => wished[at] - item.x));
  for (const item of layer) item.x += shift;
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}
