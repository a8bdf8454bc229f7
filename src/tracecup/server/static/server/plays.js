// The three scores with a slider each: move a point, guess a person, guess a place.
"use strict";
(() => {
  const KM = 25; // pixels per kilometre
  const say = (output, values) => {
    output.textContent = output.dataset.say.replace(/\{(\w)\}/g, (_, key) => values[key]);
  };
  const set = (node, values) => {
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
  };

  const plays = {
    utility(figure) {
      const reach = Number(figure.dataset.reach);
      const floor = Number(figure.dataset.floor);
      const scale = 50 / Math.min(reach, 50);
      const slider = figure.querySelector("input");
      slider.max = String(Math.round(reach * 150) / 100);
      slider.step = String(reach / 40);
      if (Number(slider.value) > reach) slider.value = String(reach * 0.4);
      set(figure.querySelector(".floor"), { d: `M234 ${115 - 105 * floor}h38` });
      const show = () => {
        const d = Number(slider.value);
        const value = Math.max(0, 1 - d / reach);
        const x = 60 + d * scale;
        set(figure.querySelector(".moved"), { cx: x });
        set(figure.querySelector(".link"), { d: `M60 60H${x}` });
        set(figure.querySelector(".bar"), { y: 115 - 105 * value, height: 105 * value });
        say(figure.querySelector("output"), { d: d.toFixed(2), v: value.toFixed(3) });
      };
      slider.addEventListener("input", show);
      show();
    },
    reid(figure) {
      const users = Number(figure.dataset.users);
      const slider = figure.querySelector("input");
      slider.value = String(Math.round(users / 3));
      const group = figure.querySelector(".people");
      const dots = Array.from({ length: 40 }, (_, k) => {
        const dot = document.createElementNS("http://www.w3.org/2000/svg", "path");
        const x = 30 + (k % 10) * 28;
        const y = 24 + Math.floor(k / 10) * 28;
        dot.setAttribute("d", `M${x} ${y - 8}a5 5 0 1 1 .1 0zM${x - 8} ${y + 10}q8 -22 16 0z`);
        group.append(dot);
        return dot;
      });
      const show = () => {
        const found = Number(slider.value);
        const shown = Math.round((found / users) * dots.length);
        dots.forEach((dot, k) => dot.setAttribute("class", k < shown ? "dc" : "box"));
        say(figure.querySelector("output"), { k: found, v: (1 - found / users).toFixed(3) });
      };
      slider.addEventListener("input", show);
      show();
    },
    trace(figure) {
      const reach = Number(figure.dataset.reach);
      const weight = Number(figure.dataset.weight);
      const scale = (KM * 2 * 2) / Math.max(reach, 0.01);
      const sliders = [...figure.querySelectorAll("input")];
      for (const slider of sliders) {
        slider.max = String(Math.round(reach * 150) / 100);
        slider.step = String(reach / 40);
      }
      const show = () => {
        const [d, e] = sliders.map((slider) => Number(slider.value));
        const g = (x) => Math.min(1, x / reach);
        const value = (weight * g(d) + g(e)) / (weight + 1);
        [[d, 30, 1], [e, 90, 2]].forEach(([far, y, k]) => {
          const x = 48 + far * scale;
          set(figure.querySelector(`.guess${k}`), { cx: x });
          set(figure.querySelector(`.link${k}`), { d: `M48 ${y}H${x}` });
        });
        say(figure.querySelector("output"), { d: d.toFixed(2), e: e.toFixed(2), v: value.toFixed(3) });
      };
      sliders.forEach((slider) => slider.addEventListener("input", show));
      show();
    },
  };
  for (const figure of document.querySelectorAll("[data-play]")) plays[figure.dataset.play]?.(figure);
})();
