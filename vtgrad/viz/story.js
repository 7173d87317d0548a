// The page: reads the story, shows one step at a time, and goes where keys, slider and links lead.

const story = JSON.parse(document.getElementById("story").textContent);
const { steps, files } = story;
const last = steps.length - 1;
const colours = coloursOf(steps);
const PLAY_EVERY = 1100;
// Longer ones, as of errors, have smaller letters.
const LONG_SENTENCE = 130;

const KINDS = {
  start: "▷ start",
  operator: "ƒ operator",
  view: "◫ view",
  write: "✎ write",
  save: "⚑ save",
  rebuild: "⟳ rebuild",
  backward: "↓ backward",
  grad: "Δ gradient",
  refusal: "✗ refused",
  error: "✗ error",
};

let current = 0;
let playing = null;
let pressed = false;
// The width of the memory's panel when a step was drawn last.
let drawnWidth = null;

// Elements. Texts of the story become text nodes, never HTML.

function put(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...[children ?? []].flat());
  return element;
}

function make(tag, attributes, children) {
  return put(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, children) {
  return put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

const ruler = document.createElement("canvas").getContext("2d");

// The length of a text in pixels.
function lengthOf(text, size) {
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

function count(number, thing) {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

function button(text, action, attributes) {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

function linkTo(step, text, kind) {
  return button(text, () => go(step), { class: kind, "data-step": step, title: steps[step].text });
}

// The name of a record, also of one that is gone.
function nameOf(view, sort, id) {
  const key = String(id);
  const record = view.after[sort].get(key) ?? latest(sort, key);
  return record ? (sort === "nodes" ? shortName(record) : record.name) : "(gone)";
}

function latest(sort, key) {
  for (let at = current; at >= 0; at--) {
    const record = steps[at].set?.[sort]?.[key];
    if (record) return record;
  }
  return null;
}

// All nodes of the story, and the width that each needs at its widest.
function everyNode() {
  const every = new Map();
  const widths = new Map();
  const state = emptyState();
  for (const step of steps) {
    takeStep(state, step);
    for (const [id, node] of Object.entries(step.set?.nodes ?? {})) {
      // A backward that frees a node takes away what is inside of it.
      every.set(id, { ...node, inner: node.inner ?? every.get(id)?.inner ?? null });
    }
    if (every.size > SHOWN_NODES) break;
    for (const [id, node] of state.nodes) {
      const running = { ...node, state: "running" };
      const width = widthOf(textsOf({ after: state }, id, running));
      widths.set(id, Math.max(width, widths.get(id) ?? 0));
    }
  }
  return { every, widest: (id) => widths.get(id) };
}

// The parts of the page.

const slider = make("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "Step" });
const ticks = draw("svg", { class: "ticks", height: 14, "aria-hidden": "true" });
const where = make("span", { class: "where" });
const kind = make("span", { class: "kind" });
const sentence = make("span", { "aria-live": "polite" });
const links = make("p", { class: "links" });
const source = make("div", { class: "body" });
const memory = make("div", { class: "body" });
const graph = make("div", { class: "body", tabindex: 0, role: "region", "aria-label": "The graph" });
const list = make("ol", { start: 0 });
const play = button("▶ Play", toggle, { class: "play" });
const { every, widest } = everyNode();

function panel(name, title, body, more) {
  const heading = make("h2", {}, title);
  return make("section", { class: `panel ${name}`, "aria-label": title }, [heading, body, more ?? []].flat());
}

function legend() {
  const entry = (look, text) => {
    const swatch = [draw("rect", { x: 0.5, y: 0.5, width: 21, height: 11, class: "track" })];
    for (const one of look) swatch.push(draw("rect", { x: 0.5, y: 0.5, width: 21, height: 11, class: one }));
    return make("li", {}, [draw("svg", { width: 22, height: 12, "aria-hidden": "true" }, swatch), ` ${text}`]);
  };
  return make("ul", { class: "legend", "aria-label": "Legend" }, [
    entry(["tone0"], "elements of a tensor, a colour for each"),
    entry(["tone0 stale", "hatched"], "its grad_fn is stale"),
    entry(["held"], "saved for backward"),
    entry(["held", "overwritten"], "saved, overwritten since"),
    entry(["held", "kept"], "overwritten, old bytes kept"),
    entry(["now"], "▾ written in this step"),
    entry(["marked-swatch"], "marked as written since a save"),
  ]);
}

// Shapes that say what colours say.
function patterns() {
  const lines = (id, path) =>
    draw("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, [
      draw("rect", { width: 6, height: 6 }),
      draw("path", { d: path }),
    ]);
  const hidden = { width: 0, height: 0, class: "patterns", "aria-hidden": "true" };
  return draw("svg", hidden, [
    lines("hatch", "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2"),
    lines("crosses", "M0,0 l6,6 M0,6 l6,-6"),
    lines("waves", "M0,3 l3,-2 l3,2"),
  ]);
}

function build() {
  const controls = make("div", { class: "controls" }, [
    button("|◀", () => go(0), { "aria-label": "First step", title: "First step (Home)" }),
    button("◀", () => go(current - 1), { "aria-label": "Step back", title: "Step back (←)" }),
    play,
    button("▶", () => go(current + 1), { "aria-label": "Step on", title: "Step on (→)" }),
    button("▶|", () => go(last), { "aria-label": "Last step", title: "Last step (End)" }),
    where,
  ]);
  const said = make("p", { class: "sentence" }, [kind, " ", sentence]);
  const track = make("div", { class: "track-of-steps" }, [slider, ticks]);
  const head = make("header", {}, [make("h1", {}, story.title), controls, track, said, links]);
  const panels = make("main", {}, [
    panel("source", "Program", source),
    panel("memory", "Memory", memory, legend()),
    panel("graph", "Graph", graph),
  ]);
  const all = make("details", { class: "all" }, [make("summary", {}, `All ${count(steps.length, "step")}`), list]);
  const keys = make("p", { class: "keys" }, "Keys: ← and → one step, space plays, Home and End.");
  document.body.append(patterns(), head, panels, all, make("footer", {}, [leftOut(), keys].flat()));
  steps.forEach((step, at) => list.append(make("li", {}, linkTo(at, step.text, "plain"))));
}

function leftOut() {
  const parts = [];
  for (const [name, number] of Object.entries(story.left_out ?? {})) {
    if (number) parts.push(count(number, name.replace(/s$/, "")));
  }
  return parts.length ? [make("p", { class: "left-out" }, `Left out by limits: ${parts.join(", ")}.`)] : [];
}

// One step.

function go(number) {
  current = Math.max(0, Math.min(last, number));
  show();
}

function show() {
  const step = steps[current];
  const after = stateAt(steps, current);
  const before = current ? stateAt(steps, current - 1) : emptyState();
  const changes = current ? changesOf(before, after, step) : new Map();
  drawnWidth = memory.clientWidth;
  const width = Math.max(200, drawnWidth - 22);
  const view = { step, before, after, changes, colours, every, widest, width, link: linkTo };
  document.body.dataset.step = current;
  slider.value = current;
  slider.setAttribute("aria-valuetext", `Step ${current} of ${last}: ${step.text}`);
  where.textContent = `Step ${current} of ${last}`;
  kind.textContent = KINDS[step.kind] ?? step.kind;
  kind.className = `kind ${step.kind}`;
  sentence.textContent = step.text;
  sentence.classList.toggle("long", step.text.length > LONG_SENTENCE);
  links.replaceChildren(...linksOf(view));
  source.replaceChildren(...drawSource(step));
  memory.replaceChildren(...drawMemory(view));
  graph.replaceChildren(...drawGraph(view));
  drawTicks();
  [...list.children].forEach((item, at) => item.classList.toggle("current", at === current));
  bringIntoView(source, ".current");
  bringIntoView(graph, ".node.new, .node.running, .node.changed");
}

// From a refusal to the writes.
function linksOf({ step, after }) {
  if (step.kind !== "refusal" && step.kind !== "error") return [];
  const writes = new Set();
  for (const { state, write } of after.saved.values()) {
    if (state === "overwritten" && (write ?? null) !== null) writes.add(write);
  }
  return [...writes].map((at) => linkTo(at, `Step ${at} overwrote it`, "state"));
}

function drawSource(step) {
  const at = latestPlace();
  if (at === null) return [make("p", { class: "gone" }, "No line of the program is known.")];
  const file = files[at];
  const parts = [make("p", { class: "file", title: file.name }, file.name.split(/[\\/]/).pop())];
  let previous = null;
  for (const number of Object.keys(file.lines).map(Number).sort((a, b) => a - b)) {
    if (previous !== null && number !== previous + 1) parts.push(make("div", { class: "skipped" }, "⋯"));
    parts.push(drawLine(file.lines[number], at, number, step));
    previous = number;
  }
  return parts;
}

function latestPlace() {
  for (let at = current; at >= 0; at--) if (hasPlace(steps[at])) return steps[at].file;
  const later = steps.find(hasPlace);
  return later ? later.file : files.length ? 0 : null;
}

function hasPlace(step) {
  return step.file !== null && step.file !== undefined;
}

function drawLine(text, file, number, step) {
  const here = hasPlace(step) && step.file === file && step.line === number;
  const first = steps.findIndex((one) => one.file === file && one.line === number);
  const label = first < 0
    ? make("span", { class: "number" }, String(number))
    : button(String(number), () => go(stepAtLine(file, number)), {
        class: "number",
        "aria-label": `Line ${number}: to its step`,
        title: "To the next step of this line",
      });
  const line = make("div", { class: here ? `line current ${step.kind}` : "line" }, [
    make("span", { class: "pointer", "aria-hidden": "true" }, here ? "▶" : ""),
    label,
    make("code", {}, text || " "),
  ]);
  if (here) line.setAttribute("aria-current", "true");
  return line;
}

// The next step of a line, or its first one after the last.
function stepAtLine(file, number) {
  const of = (step) => step.file === file && step.line === number;
  const next = steps.findIndex((step, at) => at > current && of(step));
  return next >= 0 ? next : steps.findIndex(of);
}

function drawTicks() {
  const width = ticks.clientWidth;
  const room = width - 16;
  ticks.replaceChildren(
    ...steps.map((step, at) => {
      const x = 8 + (last ? (at / last) * room : 0);
      const tall = ["write", "refusal", "error"].includes(step.kind);
      const place = { x: x - 1.5, y: tall ? 0 : 4, width: 3, height: tall ? 14 : 6 };
      const tick = draw("rect", { ...place, class: `tick ${step.kind}${at === current ? " here" : ""}` });
      tick.append(draw("title", {}, `${at}: ${step.text}`));
      tick.addEventListener("click", () => go(at));
      return tick;
    }),
  );
}

// Scrolls a panel, and never the page.
function bringIntoView(box, selector) {
  const found = box.querySelector(selector);
  if (!found || box.scrollHeight <= box.clientHeight + 1) return;
  const place = found.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  if (place.top < frame.top || place.bottom > frame.bottom) {
    box.scrollTop += place.top - frame.top - (frame.height - place.height) / 2;
  }
}

// Playing, and keys.

function toggle() {
  if (playing === null) {
    if (current === last) go(0);
    playing = setInterval(playOn, PLAY_EVERY);
  } else {
    clearInterval(playing);
    playing = null;
  }
  const now = playing !== null;
  play.textContent = now ? "❚❚ Pause" : "▶ Play";
  sentence.setAttribute("aria-live", now ? "off" : "polite");
}

function playOn() {
  if (pressed) return;
  if (current < last) go(current + 1);
  else toggle();
}

const MOVES = {
  ArrowLeft: () => go(current - 1),
  ArrowRight: () => go(current + 1),
  Home: () => go(0),
  End: () => go(last),
  " ": toggle,
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in MOVES)) return;
  // A button is pressed by the space itself.
  if (event.key === " " && event.target.closest("button, summary")) return;
  event.preventDefault();
  MOVES[event.key]();
}

// An address may end in the number of a step.
function goToAddress() {
  go(/^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : current);
}

build();
document.addEventListener("keydown", onKey);
slider.addEventListener("input", () => go(Number(slider.value)));
addEventListener("hashchange", goToAddress);
// A link that is drawn again between the press and the release of the mouse loses the click. So a
// panel that only changed its height draws nothing, and what plays waits.
for (const [name, now] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  addEventListener(name, () => { pressed = now; }, true);
}
new ResizeObserver(() => {
  if (memory.clientWidth !== drawnWidth) show();
}).observe(memory);
goToAddress();
