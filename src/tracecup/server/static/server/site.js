// Small helps of the site; every page works without them.
"use strict";
(() => {
  const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
  const say = (key, value) => (words[key] ?? "{}").replace("{}", value);

  // The viewer's zone, so that the server can write times in it.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.split("; ").includes(`zone=${zone}`)) {
    document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  }

  // Times left, counted from the server's clock, not the viewer's.
  const MINUTE = 60;
  const HOUR = 3600;
  const DAY = 86400;
  const duration = (seconds) => {
    const whole = Math.abs(Math.round(seconds));
    let parts = [["minute", Math.floor(whole / MINUTE)], ["second", whole % MINUTE]];
    if (whole >= DAY) parts = [["day", Math.floor(whole / DAY)], ["hour", Math.floor((whole % DAY) / HOUR)]];
    else if (whole >= HOUR) parts = [["hour", Math.floor(whole / HOUR)], ["minute", Math.floor((whole % HOUR) / MINUTE)]];
    else if (whole >= 10 * MINUTE) parts = [["minute", Math.floor(whole / MINUTE)]];
    return parts.filter(([, n]) => n).map(([unit, n]) => say(unit, n)).join(words.gap ?? " ") || say("second", 0);
  };
  const tick = () => {
    for (const node of document.querySelectorAll("[data-left]")) {
      node.since ??= performance.now();
      const left = Number(node.dataset.left) - (performance.now() - node.since) / 1000;
      const text = Math.abs(left) < 1 ? words.now : say(left > 0 ? "in" : "ago", duration(left));
      if (node.textContent !== text) node.textContent = text;
    }
  };
  setInterval(tick, 1000);

  // Copy buttons beside commands.
  const prepare = (root) => {
    for (const button of root.querySelectorAll("[data-copy][hidden]")) {
      if (!navigator.clipboard) break;
      button.hidden = false;
      const label = button.textContent;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
        button.textContent = words.copied;
        setTimeout(() => (button.textContent = label), 2000);
      });
    }
    for (const box of root.querySelectorAll(".drop")) dropping(box);
    for (const box of root.querySelectorAll(".scroll")) scrolling(box);
    for (const node of root.querySelectorAll("[data-confirm]")) {
      node.addEventListener("click", (event) => {
        if (!window.confirm(node.dataset.confirm)) event.preventDefault();
      });
    }
    for (const node of root.querySelectorAll("[data-submit-on-change]")) {
      node.addEventListener("change", () => node.form.requestSubmit());
    }
  };

  // A table or chart that is wider than its box fades at the edge and says that it scrolls.
  const scrolling = (box) => {
    if (box.scrolls) return;
    box.scrolls = true;
    const look = () => {
      const more = box.scrollWidth - box.clientWidth;
      box.classList.toggle("wider", more > 1);
      box.classList.toggle("more", box.scrollLeft < more - 1);
    };
    box.dataset.hint = words.scroll ?? "";
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    for (const child of box.children) new ResizeObserver(look).observe(child);
    look();
  };

  // A file dropped on the box goes into its file field; its name is said.
  const dropping = (box) => {
    const field = box.querySelector("input[type=file]");
    if (!field || box.dataset.ready) return;
    box.dataset.ready = "yes";
    const chosen = box.querySelector(".chosen");
    const tell = () => {
      if (chosen) chosen.textContent = field.files.length ? say("chosen", field.files[0].name) : "";
    };
    field.addEventListener("change", tell);
    for (const name of ["dragenter", "dragover"]) {
      box.addEventListener(name, (event) => {
        event.preventDefault();
        box.classList.add("over");
      });
    }
    for (const name of ["dragleave", "drop"]) box.addEventListener(name, () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!event.dataTransfer.files.length) return;
      field.files = event.dataTransfer.files;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    });
  };

  // How much of a large file is on its way; afterwards the server works.
  document.addEventListener("htmx:xhr:progress", (event) => {
    const sign = event.target.querySelector?.(".busy-sign");
    const { lengthComputable, loaded, total } = event.detail;
    if (!sign || !lengthComputable || !total) return;
    sign.dataset.words ??= sign.textContent;
    const part = Math.floor((100 * loaded) / total);
    sign.textContent = loaded < total ? say("sending", `${part} %`) : sign.dataset.words;
  });

  // A refused form says why in the place where its answer would have been.
  const refused = (event) => {
    const { target, xhr, requestConfig } = event.detail;
    if (requestConfig?.verb !== "post" || !target) return;
    const page = new DOMParser().parseFromString(xhr?.responseText ?? "", "text/html");
    const notice = document.createElement("p");
    notice.className = "notice bad";
    notice.textContent = page.querySelector("main .notice.bad, main p")?.textContent.trim() || words.lost;
    target.replaceChildren(notice);
  };
  document.addEventListener("htmx:responseError", refused);
  document.addEventListener("htmx:sendError", refused);

  document.addEventListener("htmx:load", (event) => {
    prepare(event.target);
    tick();
  });
  prepare(document);
  tick();
  document.documentElement.classList.add("js");
})();
