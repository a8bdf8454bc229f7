// Lessons with live pictures: a toy city of 60 people, computed anew at every move of a slider.
"use strict";
(() => {
  const SIDE = 10;
  const PEOPLE = 60;
  const SLOTS = 8;
  const REACH = 4; // cells from which a place is useless, a guess a full miss
  const CELL = 24;
  const NAMES = ["Ann", "Bob", "Chie", "Dan", "Emi", "Finn"];

  // A small generator of random numbers: the same pictures for everybody.
  const random = (seed) => () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
  const whole = (draw, most) => Math.floor(draw() * most);
  const near = (draw, place, radius) => {
    const angle = draw() * 2 * Math.PI;
    const far = radius * Math.sqrt(draw());
    const clip = (value) => Math.min(SIDE - 1, Math.max(0, Math.round(value)));
    return [clip(place[0] + far * Math.cos(angle)), clip(place[1] + far * Math.sin(angle))];
  };
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];

  const draw = random(2019);
  const city = Array.from({ length: PEOPLE }, () => {
    const home = [whole(draw, SIDE), whole(draw, SIDE)];
    const work = near(draw, [5, 5], 3);
    const cafe = near(draw, work, 2);
    const day = () =>
      [home, home, work, work, cafe, work, home, home].map((place) =>
        draw() < 0.2 ? near(draw, place, 2) : place,
      );
    return { known: day(), secret: day() };
  });

  const node = (name, values) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
    return made;
  };
  const centre = ([x, y]) => [12 + x * CELL + CELL / 2, 12 + y * CELL + CELL / 2];
  const clear = (svg) => {
    svg.replaceChildren();
    svg.append(node("rect", { class: "box", x: 12, y: 12, width: SIDE * CELL, height: SIDE * CELL }));
    for (let k = 1; k < SIDE; k += 1) {
      const at = 12 + k * CELL;
      svg.append(node("path", { class: "road", d: `M12 ${at}h${SIDE * CELL}M${at} 12v${SIDE * CELL}` }));
    }
  };
  const trace = (svg, places, line, dot, shift = 0, opacity = 1) => {
    const points = places.map((place) => centre(place).map((value) => value + shift));
    svg.append(node("path", { class: line, opacity, d: `M${points.map((p) => p.join(" ")).join("L")}` }));
    for (const [cx, cy] of points) svg.append(node("circle", { class: dot, opacity, cx, cy, r: 4 }));
  };
  const bars = (svg, values, shown) => {
    svg.replaceChildren();
    values.forEach(([label, value, kind], k) => {
      const y = 8 + k * 34;
      const name = node("text", { x: 0, y: y + 10 });
      name.textContent = `${label}: ${value.toFixed(2)}`;
      svg.append(name, node("rect", { class: "box", x: 0, y: y + 14, width: 260, height: 10 }));
      svg.append(node("rect", { class: kind, x: 0, y: y + 14, width: Math.max(0, 260 * value), height: 10 }));
    });
    return shown;
  };
  const say = (figure, values) => {
    const output = figure.querySelector("output");
    output.textContent = output.dataset.say.replace(/\{(\w)\}/g, (_, key) => values[key]);
  };

  // What a release of the toy city is worth. `owner[i]` is whose trace stands under user i.
  const release = (radius, swap) => {
    const noise = random(7);
    const order = city.map((_, k) => (swap ? (k + 17) % PEOPLE : k));
    return order.map((from) => city[from].secret.map((place) => near(noise, place, radius)));
  };
  const match = (released, slots) =>
    released.map((places) => {
      let best = 0;
      let least = Infinity;
      city.forEach((person, k) => {
        let far = 0;
        for (let j = 0; j < slots; j += 1) far += Math.min(REACH, distance(person.known[j], places[j]));
        if (far < least) [best, least] = [k, far];
      });
      return best;
    });
  const utility = (released) =>
    mean(released.map((places, i) => mean(places.map((place, j) => Math.max(0, 1 - distance(place, city[i].secret[j]) / REACH)))));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const attack = (released, slots = SLOTS) => {
    const guess = match(released, slots);
    const inferred = city.map((person, user) => {
      const found = guess.indexOf(user);
      return found < 0 ? person.known : released[found];
    });
    const missed = inferred.map((places, i) => mean(places.map((place, j) => Math.min(1, distance(place, city[i].secret[j]) / REACH))));
    return { reid: mean(guess.map((who, i) => (who === i ? 0 : 1))), trace: mean(missed), missed };
  };

  const lessons = {
    few(figure) {
      const [who, known] = figure.querySelectorAll("select, input");
      const svg = figure.querySelector("svg");
      const show = () => {
        const person = city[Number(who.value)];
        const order = [3, 0, 4, 7, 5, 1, 6, 2].slice(0, Number(known.value));
        const left = city.filter((one) => order.every((j) => same(one.secret[j], person.secret[j])));
        clear(svg);
        left.filter((one) => one !== person).forEach((one) => trace(svg, one.secret, "road", "box", 0, 0.8));
        trace(svg, person.secret, "a", "da");
        for (const j of order) {
          const [cx, cy] = centre(person.secret[j]);
          svg.append(node("circle", { class: "b", cx, cy, r: 9 }));
        }
        const alone = city.filter((me) => city.filter((one) => order.every((j) => same(one.secret[j], me.secret[j]))).length === 1);
        say(figure, { k: order.length, n: left.length, s: alone.length, a: PEOPLE });
      };
      [who, known].forEach((field) => field.addEventListener("input", show));
      show();
    },
    noise(figure) {
      const slider = figure.querySelector("input");
      const [map, chart] = figure.querySelectorAll("svg");
      const show = () => {
        const radius = Number(slider.value);
        const released = release(radius, false);
        const { reid, trace: missed } = attack(released);
        clear(map);
        trace(map, city[0].secret, "a", "da");
        trace(map, released[0], "b", "db", 3);
        const useful = utility(released);
        bars(chart, [[figure.dataset.utility, useful, "da"], [figure.dataset.reid, reid, "dc"], [figure.dataset.trace, missed, "db"]]);
        say(figure, { r: radius.toFixed(1), u: useful.toFixed(2), v: reid.toFixed(2), t: missed.toFixed(2) });
      };
      slider.addEventListener("input", show);
      show();
    },
    cheat(figure) {
      const box = figure.querySelector("input");
      const [map, chart] = figure.querySelectorAll("svg");
      const show = () => {
        const released = release(0.8, box.checked);
        const { reid, trace: missed } = attack(released);
        clear(map);
        trace(map, city[0].secret, "a", "da");
        trace(map, released[0], "b", "db", 3);
        bars(chart, [[figure.dataset.reid, reid, "dc"], [figure.dataset.trace, missed, "db"]]);
        say(figure, { v: reid.toFixed(2), t: missed.toFixed(2) });
      };
      box.addEventListener("input", show);
      show();
    },
    average(figure) {
      const slider = figure.querySelector("input");
      const svg = figure.querySelector("svg");
      const show = () => {
        const { missed } = attack(release(Number(slider.value), false));
        const risks = missed.map((value) => 1 - value).sort((a, b) => b - a);
        svg.replaceChildren();
        risks.forEach((risk, k) => {
          svg.append(node("rect", { class: k < 6 ? "db" : "da", x: 5 + k * 7, y: 110 - 100 * risk, width: 5, height: 100 * risk }));
        });
        const level = 110 - 100 * mean(risks);
        svg.append(node("path", { class: "arrow", d: `M0 ${level}H430` }));
        say(figure, { m: mean(risks).toFixed(2), w: risks[0].toFixed(2) });
      };
      slider.addEventListener("input", show);
      show();
    },
    ceiling(figure) {
      const slider = figure.querySelector("input");
      const svg = figure.querySelector("svg");
      const released = release(1.6, false);
      const scores = [2, 1, 4, 3, 6, 5, 7, 8].map((slots) => attack(released, slots).reid);
      const show = () => {
        const count = Number(slider.value);
        svg.replaceChildren();
        let least = 1;
        scores.slice(0, count).forEach((score, k) => {
          least = Math.min(least, score);
          const x = 40 + k * 50;
          svg.append(node("circle", { class: "dc", cx: x, cy: 115 - 100 * score, r: 5 }));
          svg.append(node("path", { class: "a", d: `M${x - 20} ${115 - 100 * least}h45` }));
        });
        say(figure, { k: count, v: least.toFixed(2) });
      };
      slider.addEventListener("input", show);
      show();
    },
  };

  for (const select of document.querySelectorAll("select[data-people]")) {
    NAMES.forEach((name, k) => select.append(new Option(name, String(k))));
  }
  for (const figure of document.querySelectorAll("[data-lesson]")) lessons[figure.dataset.lesson]?.(figure);
})();
