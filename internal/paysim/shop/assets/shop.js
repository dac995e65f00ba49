// Keeps the list of IPNs fresh. Without it the page is whole, and a reload does the same.
"use strict";

const live = document.getElementById("live");
const said = document.getElementById("said");
const pause = 1000; // milliseconds between two looks

// put shows a new fragment and gives the focus back to the line that had it.
function put(text) {
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const list = live.querySelector(".ipns");
  const scrolled = list ? list.scrollTop : 0;
  live.innerHTML = text;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  const renewed = live.querySelector(".ipns");
  if (renewed) renewed.scrollTop = scrolled;
  const summary = live.querySelector("[data-said]")?.dataset.said ?? "";
  if (said.textContent !== summary) said.textContent = summary;
}

let shown = "";

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(live.dataset.from, { headers: { Accept: "text/html" } });
      const text = await answer.text();
      if (answer.ok && text !== shown) {
        shown = text;
        put(text);
      }
    } catch {
      // The simulator has gone, or the page is being left: the next look will tell.
    }
  }
  setTimeout(look, pause);
}

if (live) setTimeout(look, pause);
