// Keeps an open page up to date: when the server reports a change, the main part of the page is loaded
// again and replaced. Without this script, the page has a link to reload it.
"use strict";
(() => {
  let from = document.body.dataset.live;
  if (!from || !window.EventSource) return;
  let busy = false, again = false;

  // Text that somebody is writing is kept.
  const writing = () => {
    const at = document.activeElement;
    return [...document.querySelectorAll("main form")].some((form) => form.contains(at) ||
      [...form.elements].some((e) => e.checked !== e.defaultChecked || (e.tagName === "TEXTAREA" && e.value !== e.defaultValue)));
  };

  const renew = async () => {
    if (busy || writing()) { again = true; return; }
    busy = true;
    again = false;
    try {
      const got = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (got.ok) {
        const page = new DOMParser().parseFromString(await got.text(), "text/html");
        const main = page.querySelector("main");
        const old = document.querySelector("main");
        if (main && !writing()) {
          const was = new Map([...old.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
          for (const d of main.querySelectorAll("details[id]")) d.open = was.get(d.id) ?? d.open;
          const focused = document.activeElement && document.activeElement.id;
          from = page.body.dataset.live || from;
          old.replaceWith(document.adoptNode(main));
          if (focused) document.getElementById(focused)?.focus();
        } else {
          again = true;
        }
      } else if (got.status >= 500 || got.status === 429) {
        again = true;
      }
    } catch { again = true; }
    busy = false;
  };

  // The browser reopens a broken stream, but not a refused one.
  const shortest = 5000, longest = 60000; // waits, in milliseconds
  let line, timer, wait = shortest;
  const open = () => {
    line = new EventSource(from);
    line.addEventListener("open", () => { wait = shortest; });
    line.addEventListener("changed", renew);
    line.addEventListener("error", () => {
      if (line.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, longest);
    });
  };

  // A hidden page has no stream: over HTTP/1.1 a browser opens six connections to a server, for all its tabs.
  const follow = () => {
    clearTimeout(timer);
    line?.close();
    if (!document.hidden) open();
  };
  document.addEventListener("visibilitychange", follow);
  follow();
  setInterval(() => { if (again && !document.hidden) renew(); }, 2000);
})();
