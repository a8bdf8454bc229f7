// Draws the charts of a page into their places and keeps them in step with the controls.
// vegaEmbed comes from the bundle this text is put into, `themes` from the server.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const figures = new Map();

// The content security policy forbids compiling text to code: expressions are interpreted (ast),
// and the default style sheets of the libraries are left out (site.css has ours).
const options = () => ({
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true, theme: "site" },
  config: themes[dark.matches ? "dark" : "light"],
});

const heightOf = (place, aspect) => Math.max(120, Math.round(place.clientWidth * aspect));

function known(node) {
  if (!figures.has(node)) {
    const data = JSON.parse(node.querySelector(".chart-data").textContent);
    const field = node.querySelector(".control input, .control select");
    const figure = { node, data, field, results: [] };
    if (field) {
      node.querySelector(".control").hidden = false;
      field.addEventListener("input", () => follow(figure));
    }
    figures.set(node, figure);
  }
  return figures.get(node);
}

async function draw(figure) {
  figure.results.forEach(({ result }) => result.finalize());
  figure.results = [];
  for (const place of figure.node.querySelectorAll(".view")) {
    const { spec, aspect } = figure.data.views[place.dataset.view];
    const own = structuredClone(spec);
    if (aspect !== null) own.height = heightOf(place, aspect);
    figure.results.push({ result: await vegaEmbed(place, own, options()), place, aspect });
  }
  if (figure.field) await follow(figure);
  figure.node.classList.add("live");
}

async function follow(figure) {
  const { signal, labels } = figure.data.control;
  const value = Number(figure.field.value);
  const output = figure.node.querySelector(".control output");
  if (output) {
    output.textContent = labels[value];
    figure.field.setAttribute("aria-valuetext", labels[value]);
  }
  await Promise.all(figure.results.map(({ result }) => result.view.signal(signal, value).runAsync()));
}

async function drawAll() {
  document.documentElement.classList.toggle("dark-charts", dark.matches);
  for (const node of figures.keys()) {
    if (!node.isConnected) figures.delete(node);
  }
  for (const node of document.querySelectorAll("figure.chart")) {
    if (!node.querySelector(".chart-data")) continue;
    try {
      await draw(known(node));
    } catch (error) {
      // Text and table stay; the reader loses the picture, not the numbers.
      node.classList.remove("live");
      console.error(`chart ${node.id}:`, error);
    }
  }
  document.documentElement.dataset.charts = "drawn";
}

let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    for (const { results } of figures.values()) {
      for (const { result, place, aspect } of results) {
        if (aspect !== null && place.clientWidth > 0) {
          result.view.height(heightOf(place, aspect)).runAsync();
        }
      }
    }
  }, 150);
});

// One drawing after another, also when the theme changes or htmx brings new charts meanwhile.
let turn = Promise.resolve();
const redraw = () => {
  turn = turn.then(drawAll);
};
dark.addEventListener("change", redraw);
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.querySelector("figure.chart") || event.target.closest("figure.chart")) redraw();
});
redraw();
