// Draws the report's charts into their places and keeps them in step with the reader's controls.
// vegaEmbed comes from the bundle this text is put into; nothing is ever loaded.
document.documentElement.classList.add("js");
const page = JSON.parse(document.getElementById("views").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const figures = [...document.querySelectorAll("figure.chart")].map((node) => ({
  node,
  places: [...node.querySelectorAll(".view")],
  views: [],
  field: node.querySelector(".control input, .control select"),
  control: page.controls[node.id],
}));

// The content security policy forbids compiling text to code: expressions are interpreted (ast),
// and the default style sheets of the libraries are left out (page.css has ours).
const options = () => ({
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true, theme: "report" },
  config: page.themes[dark.matches ? "dark" : "light"],
});

const heightOf = (place, aspect) => Math.max(120, Math.round(place.clientWidth * aspect));

async function draw(figure) {
  figure.views.forEach((result) => result.finalize());
  figure.views = [];
  for (const place of figure.places) {
    const { spec, aspect } = page.views[place.dataset.view];
    const own = structuredClone(spec);
    if (aspect !== null) own.height = heightOf(place, aspect);
    const result = await vegaEmbed(place, own, options());
    result.aspect = aspect;
    result.place = place;
    figure.views.push(result);
  }
  if (figure.field) await follow(figure);
  figure.node.classList.add("live");
}

async function follow(figure) {
  const value = Number(figure.field.value);
  const label = figure.control.labels[value];
  const output = figure.node.querySelector(".control output");
  if (output) {
    output.textContent = label;
    figure.field.setAttribute("aria-valuetext", label);
  }
  await Promise.all(
    figure.views.map(({ view }) => view.signal(figure.control.signal, value).runAsync()),
  );
}

async function drawAll() {
  for (const figure of figures) {
    try {
      await draw(figure);
    } catch (error) {
      // The still picture stays; the reader loses the interaction, not the chart.
      figure.node.classList.remove("live");
      console.error(`chart ${figure.node.id}:`, error);
    }
  }
  document.documentElement.dataset.charts = "drawn";
}

for (const figure of figures) {
  if (!figure.field) continue;
  figure.node.querySelector(".control").hidden = false;
  figure.field.addEventListener("input", () => follow(figure));
}

let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    for (const { views } of figures) {
      for (const { view, place, aspect } of views) {
        if (aspect !== null && place.clientWidth > 0) {
          view.height(heightOf(place, aspect)).runAsync();
        }
      }
    }
  }, 150);
});

// One drawing after another, also when the reader switches the theme while charts are drawn.
let turn = Promise.resolve();
const redraw = () => {
  turn = turn.then(drawAll);
};
dark.addEventListener("change", redraw);
redraw();
