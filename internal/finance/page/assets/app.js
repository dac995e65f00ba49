// What a page can do beyond reading: charts, and keys. Everything here may be missing; the page says it all without.
"use strict";
(() => {
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A chart stands in an element with data-chart: {"name": "EUR", "days": ["2026-11-01", ...], "values": ["12.00", ...]}. Values
  // are text, for exactness elsewhere; bars on a screen are drawn of numbers.
  function draw(box) {
    const chart = JSON.parse(box.dataset.chart);
    const days = chart.days.map((day) => Date.parse(day + "T00:00:00Z") / 1000);
    const half = days.length > 1 ? (days[1] - days[0]) / 2 : 43200;
    const muted = token("--muted"), grid = { stroke: token("--line"), width: 1 };
    const name = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    const short = new Intl.NumberFormat("en", { notation: "compact" });
    box.replaceChildren();
    new uPlot({
      width: box.clientWidth, height: 190, cursor: { y: false, drag: { x: false, y: false } },
      tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), "Etc/UTC"),
      scales: { x: { range: (u, low, high) => [low - half, high + half] }, y: { range: (u, low, high) => [Math.min(low, 0) * 1.05, Math.max(high, 0) * 1.05 || 1] } },
      series: [
        { label: "Day", value: (u, at) => at == null ? "–" : new Date(at * 1e3).toISOString().slice(0, 10) },
        {
          label: chart.name, stroke: token("--accent"), fill: token("--accent"), width: 0, points: { show: false },
          paths: uPlot.paths.bars({ size: [.7, 28] }), value: (u, v, s, at) => at == null ? "–" : chart.values[at],
        },
      ],
      axes: [
        { stroke: muted, grid: { show: false }, ticks: grid, space: 60, values: (u, ticks) => ticks.map((at) => name.format(at * 1e3)) },
        { stroke: muted, grid, ticks: grid, size: 56, values: (u, ticks) => ticks.map((v) => short.format(v)) },
      ],
    }, [days, chart.values.map(Number)], box);
  }

  function drawAll() {
    if (typeof uPlot === "function") document.querySelectorAll("[data-chart]").forEach(draw);
  }

  // Rows that can be opened are those with a link; j and k walk them, Enter follows the first link.
  let at = -1;
  const rows = () => [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector("a[href]") && row.offsetParent);
  function walk(step) {
    const all = rows();
    if (!all.length) return;
    all[at]?.classList.remove("at");
    at = Math.min(Math.max(at + step, 0), all.length - 1);
    all[at].classList.add("at");
    all[at].querySelector("a[href]").focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [contenteditable]")) return;
    if (event.key === "/") {
      const field = document.querySelector("[data-search]") ?? document.getElementById("ask");
      if (!field) return;
      event.preventDefault();
      field.closest("details")?.setAttribute("open", "");
      field.focus();
      field.select?.();
    } else if (event.key === "j" || event.key === "k") {
      walk(event.key === "j" ? 1 : -1);
    }
  });

  // What was swapped in is told in a few words, not read out whole.
  document.addEventListener("htmx:after:swap", () => {
    at = -1;
    document.getElementById("said").textContent = document.querySelector("[data-said]")?.dataset.said ?? "";
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 150); });
  drawAll();
})();
