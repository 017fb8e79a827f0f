"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
const get = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const RELATIONS = { rf: "reads from", mo: "modification order", sw: "synchronizes", asw: "spawn, join", cycle: "cycle" };
const COLOURED = ["po", "fr"];
const hidden = new Set(["asw"]);
let shown, execution, step = 0, boxes = [];

function element(tag, properties = {}, children = []) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** The kind of a step and the event that it is about. */
function parts(of) {
  const [kind, at] = Object.entries(of)[0];
  return { kind, at, event: execution.events[at] };
}

/** The pairs of events to draw, with their relations. */
function pairs() {
  const inCycle = (from, to) => execution.cycle.some((edge) => edge.from === from && edge.to === to);
  const all = [];
  execution.events.forEach((event, to) => {
    if (typeof event.source === "number") all.push({ from: event.source, to, relation: "rf" });
  });
  all.push(...execution.relations);
  for (const edge of all) edge.strong = inCycle(edge.from, edge.to);
  const known = (edge) => all.some((other) => other.from === edge.from && other.to === edge.to && other.relation === edge.relation);
  for (const edge of execution.cycle) {
    if (!known(edge)) all.push({ ...edge, strong: true, onlyCycle: true });
  }
  return all;
}

function showResult(index) {
  shown = page.results[index];
  execution = shown.execution;
  document.title = `${shown.program}, ${shown.model}: ${shown.kind || shown.verdict}`;
  get("program").textContent = shown.program;
  get("model").textContent = shown.model;
  get("kind").textContent = shown.kind ? `error[${shown.kind}]:` : shown.verdict;
  get("message").textContent = shown.message;
  get("place").textContent = shown.place;
  get("reasons").replaceChildren(...[...shown.why, ...shown.help].map((text) => element("li", { textContent: text })));
  const has = Boolean(execution && execution.steps.length);
  for (const id of ["controls", "execution"]) get(id).hidden = !has;
  document.querySelector("main").hidden = !has;
  get("controls").style.display = has ? "" : "none";
  get("printed").textContent = (execution && execution.printed) || "";
  if (!has) {
    get("notes").textContent = shown.counts;
    return;
  }
  get("notes").textContent = notes().join("\n");
  get("buffer-section").hidden = execution.order !== "store-buffers";
  showEdges();
  showLanes();
  get("slider").max = execution.steps.length - 1;
  goTo(execution.steps.length - 1);
}

function notes() {
  const orders = execution.modification_orders.map((order) => {
    const writes = order.writes.map((at) => `${execution.events[at].written} (${execution.events[at].id})`);
    return `Modification order of ${order.object}: ${writes.join(", ")}.`;
  });
  const what = {
    "interleaving": "An ordinary interleaving: every read observes the latest write.",
    "store-buffers": "A run with store buffers: a dashed step is a store that reaches memory.",
    "listed": "The order of the steps is not the order of memory: a read may miss writes above it.",
  }[execution.order];
  const omitted = execution.omitted ? [`${execution.omitted} events without influence on the error are omitted.`] : [];
  return [what, ...orders, ...execution.waits.map((text) => `${text}.`), ...omitted, shown.counts];
}

function showEdges() {
  const used = new Set(pairs().filter((edge) => !edge.onlyCycle).map((edge) => edge.relation));
  const names = Object.keys(RELATIONS).filter((name) => used.has(name) || (name === "cycle" && execution.cycle.length));
  get("edges").replaceChildren(...names.map((name) => {
    const box = element("input", { type: "checkbox", checked: !hidden.has(name) });
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(name); else hidden.add(name);
      draw();
    });
    const colour = name === "cycle" ? "var(--fr)" : `var(--${name})`;
    const swatch = element("span", { className: "swatch" });
    swatch.style.color = colour;
    return element("label", {}, [box, swatch, RELATIONS[name]]);
  }));
}

function showLanes() {
  const lanes = get("lanes");
  const used = execution.threads.map((_, thread) => execution.events.some((event) => event.thread === thread));
  const columns = [];
  used.forEach((is, thread) => { if (is) columns.push(thread); });
  lanes.style.gridTemplateColumns = `auto repeat(${columns.length}, minmax(9em, auto))`;
  const heads = columns.map((thread, at) => {
    const { name, end } = execution.threads[thread];
    const head = element("div", { className: "lane" }, [name, element("small", { textContent: end === "open" ? "" : end })]);
    head.style.gridColumn = at + 2;
    head.style.gridRow = 1;
    return head;
  });
  boxes = execution.steps.map((of, row) => {
    const { kind, at, event } = parts(of);
    const inMemory = kind === "memory";
    const text = inMemory ? `${event.object} = ${event.written} reaches memory` : event.text;
    const small = inMemory ? event.id : event.place;
    const box = element("button", { className: `event ${inMemory ? "memory" : event.operation}`, title: `${event.id}  ${event.place}` },
      [text, element("small", { textContent: small })]);
    if (event.role && !inMemory) box.classList.add("bad");
    box.style.gridColumn = columns.indexOf(event.thread) + 2;
    box.style.gridRow = row + 2;
    box.addEventListener("click", () => goTo(row));
    return { box, kind, at };
  });
  const numbers = boxes.map((_, row) => {
    const number = element("div", { className: "number", textContent: row + 1 });
    number.style.gridRow = row + 2;
    return number;
  });
  lanes.replaceChildren(...heads, ...numbers, ...boxes.map(({ box }) => box));
}

/** Memory and store buffers after the current step. */
function state() {
  const memory = new Map(execution.objects.map(({ name, initial }) => [name, { value: initial, by: "initially" }]));
  const buffers = new Map();
  let changed = null;
  const write = (event) => {
    if (event.written === undefined || event.object === undefined) return;
    memory.set(event.object, { value: event.written, by: event.id });
    changed = event.object;
  };
  execution.steps.slice(0, step + 1).forEach((of) => {
    const { kind, at, event } = parts(of);
    const own = buffers.get(event.thread) || [];
    changed = null;
    if (kind === "buffered") buffers.set(event.thread, [...own, at]);
    else if (kind === "memory") {
      buffers.set(event.thread, own.filter((other) => other !== at));
      write(event);
    } else write(event);
  });
  return { memory, buffers, changed };
}

function goTo(target) {
  step = Math.max(0, Math.min(execution.steps.length - 1, target));
  get("slider").value = step;
  get("position").textContent = `step ${step + 1} of ${execution.steps.length}`;
  boxes.forEach(({ box }, row) => {
    box.classList.toggle("future", row > step);
    box.classList.toggle("now", row === step);
    box.toggleAttribute("aria-current", row === step);
  });
  const { memory, buffers, changed } = state();
  get("memory").replaceChildren(...[...memory].map(([name, { value, by }]) => element("tr",
    { className: name === changed ? "changed" : "" },
    [element("td", { textContent: name }), element("td", { textContent: value }), element("td", { className: "by", textContent: by })])));
  get("buffers").replaceChildren(...execution.threads.map(({ name }, thread) => {
    const stores = (buffers.get(thread) || []).map((at) => `${execution.events[at].object} = ${execution.events[at].written}`);
    return element("tr", {}, [element("th", { textContent: name }), element("td", { textContent: stores.join(", ") || "empty" })]);
  }));
  showEvent();
  draw();
}

function showEvent() {
  const { kind, at, event } = parts(execution.steps[step]);
  const what = kind === "memory" ? `${event.id} reaches memory` : `${event.id}  ${event.text}`;
  const frames = (event.stack || []).map((frame) => {
    const where = frame.position ? ` at ${frame.position.file}:${frame.position.line}` : "";
    return element("li", { textContent: `${frame.function || "?"}${where}` });
  });
  const role = { race: "This access is part of the race.", failure: "The thread fails after this step." }[event.role];
  get("event").replaceChildren(element("div", { textContent: what }), element("div", { className: "by", textContent: event.place }),
    ...(role ? [element("div", { textContent: role })] : []), ...(frames.length ? [element("ol", {}, frames)] : []));
  const place = shown.places[at];
  const lines = place && page.sources[place[0]];
  get("file").textContent = place ? place[0] : "";
  if (!lines) {
    get("source").textContent = "not available";
    return;
  }
  get("source").replaceChildren(...lines.map((text, index) => element("span",
    { className: index + 1 === place[1] ? "line now" : "line" }, [element("b", { textContent: index + 1 }), text])));
  const current = get("source").querySelector(".now");
  if (current) get("source").scrollTop = current.offsetTop - get("source").offsetTop - 110;
}

/** Draws the relations between the boxes of events. A write is where it reaches memory in the modification order. */
function draw() {
  const svg = get("arrows");
  const area = get("execution");
  const frame = area.getBoundingClientRect();
  svg.setAttribute("width", area.scrollWidth);
  svg.setAttribute("height", area.scrollHeight);
  const boxOf = (at, inMemory) => {
    const found = boxes.findIndex((box) => box.at === at && (box.kind === "memory") === inMemory);
    return found < 0 && inMemory ? boxOf(at, false) : found;
  };
  const defs = document.createElementNS(SVG, "defs");
  const drawn = [defs];
  for (const [name, colour] of Object.entries({ rf: "--rf", mo: "--mo", sw: "--sw", asw: "--asw", fr: "--fr", po: "--po" })) {
    const marker = document.createElementNS(SVG, "marker");
    for (const [key, value] of Object.entries({ id: `to-${name}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" })) marker.setAttribute(key, value);
    const tip = document.createElementNS(SVG, "path");
    tip.setAttribute("d", "M0 0 L8 4 L0 8 z");
    tip.style.fill = `var(${colour})`;
    tip.style.opacity = 1;
    marker.append(tip);
    defs.append(marker);
  }
  for (const { from, to, relation, strong, onlyCycle } of pairs()) {
    const isShown = (!hidden.has(relation) && !onlyCycle) || (strong && !hidden.has("cycle"));
    const inMemory = relation === "mo";
    const [first, second] = [boxOf(from, inMemory), boxOf(to, inMemory)];
    if (!isShown || first < 0 || second < 0) continue;
    const [a, b] = [boxes[first], boxes[second]].map(({ box }) => {
      const at = box.getBoundingClientRect();
      const shift = { rf: -5, mo: 5, sw: 0 }[relation] || 0;
      const [left, top] = [at.left - frame.left + area.scrollLeft, at.top - frame.top + area.scrollTop + shift];
      return { left, right: left + at.width, middle: top + at.height / 2, centre: left + at.width / 2 };
    });
    const path = document.createElementNS(SVG, "path");
    let d, label;
    if (Math.abs(a.centre - b.centre) < 4) {
      const bend = a.right + 16 + Math.min(40, Math.abs(b.middle - a.middle) / 12);
      d = `M${a.right} ${a.middle} C${bend} ${a.middle} ${bend} ${b.middle} ${b.right} ${b.middle}`;
      label = [bend - 4, (a.middle + b.middle) / 2];
    } else {
      const right = b.centre > a.centre;
      const [x, y] = [right ? a.right : a.left, right ? b.left : b.right];
      const reach = (right ? 1 : -1) * Math.max(18, Math.abs(y - x) / 2);
      d = `M${x} ${a.middle} C${x + reach} ${a.middle} ${y - reach} ${b.middle} ${y} ${b.middle}`;
      label = [(x + y) / 2, (a.middle + b.middle) / 2 - 3];
    }
    const isDim = Math.max(first, second) > step;
    const isStrong = strong && !hidden.has("cycle");
    path.setAttribute("d", d);
    path.setAttribute("marker-end", `url(#to-${RELATIONS[relation] || COLOURED.includes(relation) ? relation : "fr"})`);
    path.setAttribute("class", `${isDim ? "dim" : ""} ${isStrong ? "strong" : ""}`);
    const colour = RELATIONS[relation] || COLOURED.includes(relation) ? `var(--${relation})` : "var(--fr)";
    path.style.stroke = colour;
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", label[0]);
    text.setAttribute("y", label[1]);
    text.setAttribute("text-anchor", "middle");
    text.setAttribute("class", isDim ? "dim" : "");
    text.style.fill = colour;
    text.textContent = relation;
    drawn.push(path, text);
  }
  svg.replaceChildren(...drawn);
}

get("first").addEventListener("click", () => goTo(0));
get("back").addEventListener("click", () => goTo(step - 1));
get("next").addEventListener("click", () => goTo(step + 1));
get("last").addEventListener("click", () => goTo(execution.steps.length - 1));
get("slider").addEventListener("input", () => goTo(Number(get("slider").value)));
window.addEventListener("resize", () => { if (execution) draw(); });
document.addEventListener("keydown", (event) => {
  if (!execution || ["INPUT", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: execution.steps.length - 1 }[event.key];
  if (target === undefined) return;
  event.preventDefault();
  goTo(target);
  boxes[step].box.scrollIntoView({ block: "nearest" });
});
const choice = get("result");
page.results.forEach((result, index) => choice.append(element("option",
  { value: index, textContent: `${result.program}, ${result.model}: ${result.kind || result.verdict}` })));
choice.hidden = page.results.length < 2;
choice.addEventListener("change", () => showResult(Number(choice.value)));
if (page.results.length) showResult(0);
// `#step=3` opens the page at a step.
const asked = /^#step=(\d+)$/.exec(location.hash);
if (asked && execution) goTo(Number(asked[1]) - 1);
