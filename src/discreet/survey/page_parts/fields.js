// Fields. Each question becomes { row, value, clear, problem, focus }: value() is the true answer
// as a number, or as a list of yes and no; problem() is what is still to do, or "".

const LISTED = 12; // longer lists get a search box
const FINE = 2 ** 20; // steps of a range where none were asked for: nobody notices them

function field(question, number) {
  const id = `q${number}`;
  const legend = element("legend", { id: `${id}-text` }, question.text);
  const error = element("p", { id: `${id}-error`, class: "error", role: "alert" });
  const { parts, value, clear, problem } = makers[question.kind](question, id);
  const row = element("fieldset", { "aria-describedby": error.id }, legend, ...parts, error);
  const check = () => {
    error.textContent = problem();
    row.classList.toggle("wrong", error.textContent !== "");
    return error.textContent;
  };
  // A complaint goes away as soon as it is met.
  for (const kind of ["input", "click", "keyup"]) {
    row.addEventListener(kind, () => { if (error.textContent !== "") check(); });
  }
  return { row, value, clear, problem: check, focus: () => row.querySelector("input").focus() };
}

const makers = {
  // an entry for each kind of question
};

// -- one of the options ---------------------------------------------------------------------------

function oneOf(texts, id, code) {
  const ticks = texts.map((text, place) => tick("radio", id, place, text));
  const place = () => ticks.findIndex(({ input }) => input.checked);
  return {
    parts: ticks.map(({ label }) => label),
    value: () => code(place()),
    clear: () => untick(ticks),
    problem: () => (place() < 0 ? "Please choose one." : ""),
  };
}

function oneSearched(options, id) {
  let chosen = null;
  const search = searchBox(id, options, (option) => {
    chosen = option;
    return option === null ? "" : options[option];
  });
  return {
    parts: [search.box],
    value: () => chosen,
    clear: search.clear,
    problem: () => (chosen === null ? "Please choose an option from the list." : ""),
  };
}

// -- any of the options ---------------------------------------------------------------------------

function anyOf(options, id, most) {
  const ticks = options.map((text, place) => tick("checkbox", id, place, text));
  const value = () => ticks.map(({ input }) => input.checked);
  return {
    parts: [limitHint(options, most), ...ticks.map(({ label }) => label)],
    value,
    clear: () => untick(ticks),
    problem: () => limitProblem(value().filter(Boolean).length, most),
  };
}

function anySearched(options, id, most) {
  const chosen = new Set();
  const list = element("ul", { class: "chosen", "aria-label": "Chosen" });
  const search = searchBox(id, options, (option) => {
    if (option !== null && !chosen.has(option)) add(option);
    return "";
  });

  function add(option) {
    chosen.add(option);
    const remove = element("button", { type: "button", "aria-label": `Remove ${options[option]}` }, "×");
    const item = element("li", {}, element("span", {}, options[option]), remove);
    remove.addEventListener("click", () => {
      chosen.delete(option);
      item.remove();
      search.focus();
    });
    list.append(item);
  }

  return {
    parts: [limitHint(options, most), list, search.box],
    value: () => options.map((_, option) => chosen.has(option)),
    clear() {
      chosen.clear();
      list.replaceChildren();
      search.clear();
    },
    problem: () => limitProblem(chosen.size, most),
  };
}

function limitHint(options, most) {
  const text = most < options.length ? `Choose up to ${most}, or none.` : "Choose any, or none.";
  return element("p", { class: "hint" }, text);
}

function limitProblem(count, most) {
  return count > most ? `Please choose at most ${most}.` : "";
}

// -- numbers --------------------------------------------------------------------------------------

// Options without texts are the numbers below their count.
function numbered(count, id) {
  const whole = (number) => (Number.isInteger(number) ? "" : "Please give a whole number.");
  return typed(id, 0, count - 1, "", (number) => number, whole);
}

// The nearest of the steps between the bounds.
function measured({ lower, upper, steps, unit }, id) {
  const [least, greatest] = [ratio(lower), ratio(upper)];
  const code = (number) =>
    Math.min(steps, Math.floor(((number - least) / (greatest - least)) * steps + 0.5));
  const step = Number(((greatest - least) / steps).toPrecision(6));
  const rounding = steps < FINE ? ` It is rounded to steps of ${step}.` : "";
  return typed(id, least, greatest, unit, code, () => "", rounding);
}

// Bounds are exact texts: "60", or "1/3".
function ratio(text) {
  const [above, below = "1"] = text.split("/");
  return Number(above) / Number(below);
}

function typed(id, least, greatest, unit, code, further, rounding = "") {
  const range = `from ${least} to ${greatest}${unit ? ` ${unit}` : ""}.`;
  const input = element("input", {
    id, type: "number", min: least, max: greatest, step: "any", autocomplete: "off",
    "aria-labelledby": `${id}-text`, "aria-describedby": `${id}-hint`,
  });
  const hint = element("p", { id: `${id}-hint`, class: "hint" }, `A number ${range}${rounding}`);
  return {
    parts: [input, hint],
    value: () => code(input.valueAsNumber),
    clear: () => { input.value = ""; },
    problem() {
      const number = input.valueAsNumber;
      return number >= least && number <= greatest ? further(number) : `Please give a number ${range}`;
    },
  };
}

// -- boxes to tick --------------------------------------------------------------------------------

function tick(type, name, place, text) {
  const id = `${name}-${place}`;
  const input = element("input", { type, id, name, autocomplete: "off" });
  const label = element("label", { for: id, class: "option" }, input, element("span", {}, text));
  return { input, label };
}

function untick(ticks) {
  for (const { input } of ticks) input.checked = false;
}
