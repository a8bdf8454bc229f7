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
    rechoosing(field);
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
      changed(field);
    });
  };
  const changed = (field) => field.dispatchEvent(new Event("change", { bubbles: true }));

  // Browsers keep silent when the same file is chosen again, though it was made anew meanwhile: so
  // the field is empty while they ask. Who closes the dialogue without a choice keeps the old one.
  const rechoosing = (field) => {
    let kept = new DataTransfer();
    field.addEventListener("click", () => {
      kept = new DataTransfer();
      for (const file of field.files) kept.items.add(file);
      field.value = "";
    });
    field.addEventListener("cancel", () => (field.files = kept.files));
  };

  // A file that was chosen while the scripts were still on their way is looked at now.
  const overtaken = (root) => {
    for (const field of root.querySelectorAll(".drop input[type=file]")) {
      if (field.files.length) changed(field);
    }
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
  const notice = (target, text) => {
    const said = document.createElement("p");
    said.className = "notice bad";
    said.textContent = text;
    target.replaceChildren(said);
  };
  document.addEventListener("htmx:responseError", ({ detail: { target, xhr, requestConfig } }) => {
    if (requestConfig?.verb !== "post" || !target) return;
    const page = new DOMParser().parseFromString(xhr?.responseText ?? "", "text/html");
    notice(target, page.querySelector("main .notice.bad, main p")?.textContent.trim() || words.lost);
  });

  // Browsers send no file that was written anew after it was chosen: that is no broken connection.
  document.addEventListener("htmx:sendError", async ({ detail: { elt, target, requestConfig } }) => {
    if (requestConfig?.verb !== "post" || !target) return;
    const file = elt.closest("form")?.querySelector("input[type=file]")?.files[0];
    const same = await file?.slice(0, 1).arrayBuffer().then(() => true, () => false);
    notice(target, same === false ? words.changed : words.lost);
  });

  document.addEventListener("htmx:load", (event) => {
    prepare(event.target);
    overtaken(event.target);
    tick();
  });
  prepare(document);
  tick();
  document.documentElement.classList.add("js");
})();
