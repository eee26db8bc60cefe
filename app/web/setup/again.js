// Shows changes while the page waits for something: the main part of the page is loaded again after the page's
// number of seconds. While SIA is starting, it does not answer, and the request is repeated.
"use strict";
(() => {
  const wait = () => { const seconds = document.body.dataset.again; if (seconds) setTimeout(look, 1000 * seconds); };
  const look = async () => {
    try {
      const got = await fetch(location.href, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await got.text(), "text/html");
      const main = page.querySelector("main");
      if (got.ok && main) {
        document.title = page.title;
        document.body.dataset.again = page.body.dataset.again || "";
        const old = document.querySelector("main");
        if (old.textContent !== main.textContent) old.replaceWith(document.adoptNode(main));
      }
    } catch { /* it is starting */ }
    wait();
  };
  wait();
})();
