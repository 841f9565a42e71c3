// Attention maps: tabs by kind, small multiples by layer and head, one map enlarged. The state is the address: #map-INDEX/HEAD,
// where head 0 is the mean over heads. Weights come as integers in units of 0.0001, row by row; -1 stands for "no number".
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = {
  cross: ["Cross-attention", "Each row is a target token; its colours say which source tokens (columns) it looked at."],
  encoder: ["Encoder self-attention", "Each row is a token or a patch of the input; its colours say which others it looked at."],
  decoder: ["Decoder self-attention", "Each row is a target token; it can look only at itself and at the tokens before it."],
};
const narrow = matchMedia("(max-width: 600px)"), dark = matchMedia("(prefers-color-scheme: dark)");

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const tip = element("div", {className: "tip", hidden: true});
function tell(event, text) {
  (document.querySelector("dialog[open]") ?? document.body).append(tip);
  tip.textContent = text;
  tip.hidden = !text;
  const {width, height} = tip.getBoundingClientRect(), above = event.clientY - height - 14;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4)) + "px";
  tip.style.top = (above > 4 ? above : event.clientY + 22) + "px";
}

function ramp() {
  const text = getComputedStyle(document.documentElement).getPropertyValue("--ramp").split(",");
  const stops = text.map(hex => [1, 3, 5].map(i => parseInt(hex.trim().slice(i, i + 2), 16)));
  return weight => {
    const at = Math.sqrt(Math.min(1, Math.max(0, weight))) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return stops[i].map((c, k) => c + (at - i) * (stops[i + 1][k] - c));
  };
}

const named = (map, head) => head ? `head ${head}` : `mean of ${map.weights.length} heads`;
const heads = map => [...Array(map.weights.length + 1).keys()].slice(map.weights.length > 1 ? 0 : 1);
const spoken = label => label.trim() ? label : "␣";
function numbers(map, head) {
  if (head) return map.weights[head - 1];
  return map.weights[0].map((_, i) => map.weights.reduce((sum, w) => sum + w[i], 0) / map.weights.length);
}

function drawing(map, head, cell) {
  const weights = numbers(map, head), t = map.rows.length, s = map.columns.length, colour = ramp(), every = Math.ceil(12 / cell);
  const canvas = element("canvas", {width: s, height: t}), pen = canvas.getContext("2d"), image = pen.createImageData(s, t);
  weights.forEach((w, i) => image.data.set([...colour(w / 10000), w < 0 ? 0 : 255], 4 * i));
  pen.putImageData(image, 0, 0);
  Object.assign(canvas.style, {width: s * cell + "px", height: t * cell + "px", imageRendering: cell < 3 ? "auto" : ""});
  const labels = (texts, name, side) => element("div", {className: name}, ...texts.flatMap((text, i) => {
    const span = element("span", {textContent: spoken(text)});
    span.style[side] = i + 1;
    return i % every ? [] : [span];
  }));
  const rows = labels(map.rows, "rows", "gridRow"), columns = labels(map.columns, "columns", "gridColumn");
  rows.style.gridTemplateRows = `repeat(${t}, var(--cell))`;
  columns.style.gridTemplateColumns = `repeat(${s}, var(--cell))`;
  const cursor = element("div", {className: "cursor"}), cells = element("div", {className: "cells" + (cell < 8 ? "" : " lines")}, canvas);
  const made = element("div", {className: "map"}, element("div", {className: "corner"}), columns, rows, cells);
  made.style.setProperty("--cell", cell + "px");
  const leave = event => {
    tell(event, "");
    cursor.remove();
    made.querySelectorAll(".on").forEach(label => label.classList.remove("on"));
  };
  canvas.onpointermove = canvas.onpointerdown = event => {
    const box = canvas.getBoundingClientRect();
    const i = Math.floor((event.clientY - box.top) / box.height * t), j = Math.floor((event.clientX - box.left) / box.width * s);
    leave(event);
    if (i < 0 || j < 0 || i >= t || j >= s) return;
    const w = weights[i * s + j];
    tell(event, `${spoken(map.rows[i])} → ${spoken(map.columns[j])}: ${w < 0 ? "no number" : (w / 10000).toFixed(2)}`);
    rows.children[i / every]?.classList.add("on");
    columns.children[j / every]?.classList.add("on");
    Object.assign(cursor.style, {left: j * cell + "px", top: i * cell + "px"});
    if (made.closest("dialog")) cells.append(cursor);
  };
  canvas.onpointerleave = leave;
  return made;
}

const place = document.getElementById("maps"), dialog = element("dialog"), present = Object.keys(KINDS).filter(k => data.maps.some(m => m.kind === k));
let chosen = present[0];
const address = (map, head) => `#map-${data.maps.indexOf(map)}/${head}`;
const ofKind = kind => data.maps.filter(m => m.kind === kind).sort((a, b) => a.layer - b.layer);

function render() {
  const tabs = present.map(kind => {
    const tab = element("button", {textContent: KINDS[kind][0], onclick: () => { chosen = kind; render(); }});
    tab.setAttribute("aria-pressed", kind === chosen);
    return tab;
  });
  const bar = element("div", {className: "bar"}, ...[0, 0.1, 0.25, 0.5, 1].map(w => {
    const tick = element("span", {textContent: w});
    tick.style.left = 100 * Math.sqrt(w) + "%";
    return tick;
  }));
  const room = narrow.matches ? 112 : 146;
  const layers = ofKind(chosen).map(map => {
    const fit = Math.min(24, room / Math.max(map.rows.length, map.columns.length)), cell = fit < 4 ? fit : Math.floor(fit);
    return element("section", {}, element("h3", {textContent: `Layer ${map.layer} `}, element("small", {textContent: map.name})),
      element("div", {className: "heads"}, ...heads(map).map(head => element("a", {href: address(map, head)},
        drawing(map, head, cell), element("b", {textContent: named(map, head)})))));
  });
  place.replaceChildren(element("div", {className: "tabs"}, ...tabs), element("p", {textContent: KINDS[chosen][1]}),
    element("div", {className: "legend"}, "weight", bar, "click a map to enlarge it"), ...layers);
}

function enlarge() {
  const [, index, head] = (location.hash.match(/^#map-(\d+)\/(\d+)$/) ?? []).map(Number), map = data.maps[index];
  if (!map || !heads(map).includes(head)) return dialog.close();
  if (map.kind !== chosen) { chosen = map.kind; render(); }
  const gutter = narrow.matches ? 120 : 190, fit = Math.min((innerWidth - gutter) / map.columns.length, (innerHeight - 290) / map.rows.length);
  const all = ofKind(map.kind).flatMap(m => heads(m).map(h => address(m, h))), at = all.indexOf(address(map, head));
  const link = (text, title, step) => element("a", {textContent: text, title, href: all[(at + step + all.length) % all.length]});
  const weights = numbers(map, head), s = map.columns.length;
  const sums = map.rows.map((_, i) => weights.slice(i * s, i * s + s).reduce((a, b) => a + b, 0) / 10000).map(x => x.toFixed(2));
  const ends = [...new Set(sums)].sort(), total = ends.length > 1 ? `between ${ends[0]} and ${ends.at(-1)}` : ends[0];
  dialog.replaceChildren(
    element("header", {}, element("strong", {textContent: `${KINDS[map.kind][0]}, layer ${map.layer}, ${named(map, head)}`}),
      link("‹", "previous (left arrow)", -1), link("›", "next (right arrow)", 1), element("a", {textContent: "×", title: "close (Escape)", href: "#-"})),
    element("div", {className: "scroll"}, drawing(map, head, Math.floor(Math.max(13, Math.min(40, fit))))),
    element("small", {textContent: `rows look, columns are looked at; point at a cell for its weight; rows sum to ${total}`}));
  if (!dialog.open) dialog.showModal();
}

if (present.length) {
  document.body.append(dialog, tip);
  render();
  enlarge();
  addEventListener("hashchange", enlarge);
  for (const query of [narrow, dark]) query.addEventListener("change", () => { render(); enlarge(); });
  dialog.onclose = () => { if (location.hash !== "#-") location.hash = "-"; };
  dialog.onclick = event => { if (event.target === dialog) dialog.close(); };
  dialog.onkeydown = event => dialog.querySelector({ArrowLeft: "header a", ArrowRight: "header a + a"}[event.key] ?? "none")?.click();
}
