// One function a randomizer: a true answer in, a randomized one out. The laws are those of
// discreet.survey.randomizers; thresholds and sizes come from there. What is drawn does not
// depend on the true answer, so neither does the time it takes, nor what a replaced answer is.

const randomizers = {
  response,
  unary,
  projective,
  items,
  levels,
};

// Two categories: turned around by a coin. More: replaced by the throw of a die.
function response(truth, { categories, flip, replace }) {
  if (categories === 2) return coin(flip) ? 1 - truth : truth;
  const replaced = coin(replace);
  const thrown = die(categories);
  return replaced ? thrown : truth;
}

// A bit for each option: a fair coin where it is true, and a rare yes where it is not.
function unary(truth, { categories, raise }) {
  let bits = "";
  for (let option = 0; option < categories; option += 1) {
    const drawn = uniform();
    bits += drawn < (holds(truth, option) ? GRID / 2 : raise) ? "1" : "0";
  }
  return bits;
}

// A few options, drawn by chance, and a coin for each of them; nothing is said about the others.
function items(truth, { categories, drawn, flip }) {
  const bits = Array(categories).fill("-");
  for (const option of handful(drawn, categories)) {
    bits[option] = coin(flip) === holds(truth, option) ? "0" : "1";
  }
  return bits.join("");
}

// A truth is the index of one option, or a list of yes and no for each.
function holds(truth, option) {
  return Array.isArray(truth) ? truth[option] : truth === option;
}

// A number of steps is rounded up or down to a level, by chance and without bias, and the level
// is answered like one of so many options.
function levels(truth, { steps, levels: categories, flip, replace }) {
  const level = Math.floor((truth * (categories - 1) + die(steps)) / steps);
  return response(level, { categories, flip, replace });
}
