// Keeps an open page up to date: when the server says that something changed, the main part of the
// page is loaded again and put in the place of the old one. Without this script a page says how to
// look again.
"use strict";
(() => {
  const from = document.body.dataset.live;
  if (!from || !window.EventSource) return;
  let busy = false, again = false;

  // Nobody loses what they are writing.
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
        const main = new DOMParser().parseFromString(await got.text(), "text/html").querySelector("main");
        const old = document.querySelector("main");
        if (main && !writing()) {
          const was = new Map([...old.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
          for (const d of main.querySelectorAll("details[id]")) d.open = was.get(d.id) ?? d.open;
          const focused = document.activeElement && document.activeElement.id;
          old.replaceWith(document.adoptNode(main));
          if (focused) document.getElementById(focused)?.focus();
        } else {
          again = true;
        }
      }
    } catch { again = true; }
    busy = false;
  };

  const line = new EventSource(from);
  line.addEventListener("changed", renew);
  setInterval(() => { if (again) renew(); }, 2000);
})();
