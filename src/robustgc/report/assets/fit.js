/* The page of a fit: the picture with its hints, and the sorted table.

   Names reach the page only by `textContent` and the picture only by its canvas: nothing that came
   from outside is ever read as HTML. */
(() => {
"use strict";
const picture = (canvas, tip) => {
  const d = JSON.parse(document.getElementById("picture-data").textContent);
  const n = d.x.length, ctx = canvas.getContext("2d");
  const usual = n > 1500 ? 2.2 : n > 400 ? 3 : n > 80 ? 4.5 : 6;
  let base = usual, big = base + 2.6;
  const rank = i => d.s[i] > 50 ? 3 : d.g[i] >= 0 ? 2 : d.a[i] < 0 ? 1 : 0;
  const order = [...Array(n).keys()].sort((i, j) => rank(i) - rank(j));
  const labelled = order.filter(i => d.g[i] >= 0).sort((i, j) => (d.s[j] ?? -1) - (d.s[i] ?? -1));
  const layer = document.createElement("canvas");  // everything but the chosen node
  let X = [], Y = [], chosen = -1, pending = false, stale = true, colours = {};
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const read = () => {
    colours = {ink: style("--ink"), soft: style("--soft"), edge: style("--edge"),
      paper: style("--paper"), c: d.colours.map(k => style("--c" + k))};
  };
  const outline = (x, y, r, shape) => {
    ctx.beginPath();
    if (!shape.length) ctx.arc(x, y, r, 0, 7);
    else shape.forEach(([a, b], k) => ctx[k ? "lineTo" : "moveTo"](x + r * a, y + r * b));
    ctx.closePath();
  };
  const node = i => {
    const kind = rank(i), code = d.g[i] >= 0 ? d.g[i] : d.a[i], x = X[i], y = Y[i];
    if (kind === 1) {
      ctx.strokeStyle = colours.soft; ctx.lineWidth = 1.5; ctx.beginPath();
      const r = base * 1.1;
      ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r);
      ctx.moveTo(x - r, y + r); ctx.lineTo(x + r, y - r); ctx.stroke();
      return;
    }
    ctx.fillStyle = colours.c[code % colours.c.length];
    const turn = Math.floor(code / colours.c.length) % d.shapes.length;
    outline(x, y, kind ? big : base, d.shapes[turn]);
    if (kind) {
      ctx.lineWidth = 5; ctx.strokeStyle = colours.paper; ctx.stroke();
      ctx.fill(); ctx.lineWidth = 1.8; ctx.strokeStyle = colours.ink; ctx.stroke();
    } else { ctx.globalAlpha = .85; ctx.fill(); ctx.globalAlpha = 1; }
    if (kind === 3) {
      outline(x, y, big + 5, []); ctx.lineWidth = 5; ctx.strokeStyle = colours.paper; ctx.stroke();
      ctx.lineWidth = 2.2; ctx.strokeStyle = colours.ink; ctx.stroke();
    }
  };
  const lines = only => {
    for (let k = 0; k < d.e.length; k += 2) {
      const i = d.e[k], j = d.e[k + 1];
      if (only >= 0 && i !== only && j !== only) continue;
      // One by one, so that faint edges add up where there are many, in every browser.
      ctx.beginPath(); ctx.moveTo(X[i], Y[i]); ctx.lineTo(X[j], Y[j]); ctx.stroke();
    }
  };
  const draw = () => {
    const w = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    base = usual * Math.max(.65, Math.min(1, w / 700)); big = base + 2.6;
    const pad = big + 12;
    const h = Math.max(180, Math.min(w * d.h / d.w, 620) + 2 * pad);
    const scale = Math.min((w - 2 * pad) / d.w, (h - 2 * pad) / d.h);
    canvas.style.height = h + "px";
    canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const left = (w - scale * d.w) / 2, top = (h - scale * d.h) / 2;
    X = d.x.map(v => left + scale * v); Y = d.y.map(v => top + scale * v);
    // So faint that many edges still let the nodes be seen.
    ctx.globalAlpha = Math.max(.012, Math.min(.3, .6 * w / d.e.length));
    ctx.strokeStyle = colours.edge; ctx.lineWidth = 1; lines(-1);
    ctx.globalAlpha = 1;
    order.forEach(node);
    layer.width = canvas.width; layer.height = canvas.height;
    layer.getContext("2d").drawImage(canvas, 0, 0);
  };
  const show = () => {
    if (stale) draw();
    pending = stale = false;
    ctx.save(); ctx.resetTransform(); ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(layer, 0, 0); ctx.restore();
    if (chosen < 0) return;
    ctx.strokeStyle = colours.ink; ctx.lineWidth = 1; ctx.globalAlpha = .5; lines(chosen);
    ctx.globalAlpha = 1; node(chosen); outline(X[chosen], Y[chosen], big + 1.5, []);
    ctx.lineWidth = 2; ctx.strokeStyle = colours.ink; ctx.stroke();
  };
  const ask = anew => {
    stale ||= anew;
    if (!pending) { pending = true; requestAnimationFrame(show); }
  };
  const words = i => {
    const says = [d.n[i]];
    if (d.g[i] >= 0) says.push("given: " + d.classes[d.g[i]]);
    says.push(d.a[i] >= 0 ? "model: " + d.classes[d.a[i]] : "no answer");
    if (d.s[i] !== null) says.push("suspicion: " + d.s[i] + " %");
    return says.join("\n");
  };
  const choose = i => {
    if (i === chosen) return;
    chosen = i; tip.hidden = i < 0;
    if (i >= 0) {
      tip.textContent = words(i);
      const x = Math.min(X[i] + 14, canvas.clientWidth - tip.offsetWidth - 4);
      const below = Y[i] + 16 + tip.offsetHeight < canvas.clientHeight;
      tip.style.transform = `translate(${Math.max(x, 4)}px,` +
        `${below ? Y[i] + 14 : Math.max(Y[i] - tip.offsetHeight - 14, 0)}px)`;
    }
    ask(false);
  };
  const point = event => {
    const box = canvas.getBoundingClientRect(), reach = event.pointerType === "touch" ? 24 : 12;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = reach;
    for (let i = 0; i < n; i++) {
      const far = Math.hypot(X[i] - x, Y[i] - y) - (rank(i) > 1 ? 4 : 0);
      if (far < least) { least = far; best = i; }
    }
    choose(best);
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", e => { if (e.pointerType !== "touch") choose(-1); });
  canvas.addEventListener("blur", () => choose(-1));
  canvas.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") choose(-1);
    if (!step || !labelled.length) return;
    event.preventDefault();
    const at = labelled.indexOf(chosen), m = labelled.length;
    choose(labelled[at < 0 ? (step > 0 ? 0 : m - 1) : (at + step + m) % m]);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => { read(); ask(true); });
  let width = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== width) { width = canvas.clientWidth; choose(-1); ask(true); }
  }).observe(canvas.parentElement);
  read(); show();
};

const sorted = (table, filter, status) => {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows], text = rows.map(row => row.textContent.toLowerCase());
  const value = (row, k) => row.cells[k].dataset.value ?? row.cells[k].textContent;
  const compare = (a, b, numeric) => {
    if (!numeric) return a.localeCompare(b, undefined, {numeric: true});
    return a - b;
  };
  heads.forEach((head, k) => head.querySelector("button").addEventListener("click", () => {
    const numeric = head.dataset.kind === "number", now = head.getAttribute("aria-sort");
    // The first click on a number shows the largest, as those who look for the worst want it.
    const first = head.dataset.first || "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const way = now === first ? other : first;
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way);
    const sign = way === "ascending" ? 1 : -1;
    const keyed = [...body.rows].map(row => [value(row, k), row]);
    keyed.sort(([a], [b]) => (a === "") - (b === "") || sign * compare(a, b, numeric));
    body.append(...keyed.map(pair => pair[1]));
  }));
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, k) => { row.hidden = !text[k].includes(wanted); shown += !row.hidden; });
    status.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
  });
  filter.parentElement.parentElement.hidden = false;
};

const find = id => document.getElementById(id);
if (find("picture-data")) picture(find("picture"), find("tip"));
if (find("suspects")) sorted(find("suspects"), find("filter"), find("shown"));
})();
