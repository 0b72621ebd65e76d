// A search box for long lists. All options are one text, so that a search is one scan of it:
// a few milliseconds for a million options.

const SHOWN = 50; // more than anyone reads; another letter narrows it down

// Case and accents do not matter: "zur" finds "Zürich".
function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

// Options as lines of one text; line i begins at starts[i], behind a line break.
function indexed(options) {
  const joined = options.map((option) => option.replace(/\n/g, " ")).join("\n");
  const lines = "\n" + folded(joined) + "\n";
  const starts = new Uint32Array(options.length + 1);
  for (let line = 0, at = 0; at >= 0 && line <= options.length; line += 1) {
    starts[line] = at + 1;
    at = lines.indexOf("\n", at + 1);
  }
  return { lines, starts };
}

// The line that holds position `at`: the last one that begins there or before.
function lineAt(starts, at) {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The first options that begin with what was typed, then those that contain it.
function matches({ lines, starts }, typed) {
  const wanted = folded(typed.replace(/\n/g, " ").trim());
  if (wanted === "") return [];
  const found = new Set();
  for (const lead of ["\n", ""]) {
    let at = lines.indexOf(lead + wanted);
    while (at >= 0 && found.size < SHOWN) {
      const line = lineAt(starts, at + lead.length);
      found.add(line);
      at = lines.indexOf(lead + wanted, starts[line + 1] - 1);
    }
  }
  return Array.from(found);
}

// A combobox with a list, as in the WAI-ARIA Authoring Practices. `choose` is told the option that
// was taken, or null when another one is typed, and returns what the box then shows.
function searchBox(id, options, choose) {
  let index = null; // built when the box is entered
  let listed = [];
  let active = -1;

  const list = element("ul", { id: `${id}-list`, role: "listbox", class: "matches", hidden: "" });
  list.setAttribute("aria-labelledby", `${id}-text`);
  const status = element("p", { id: `${id}-status`, class: "hint", role: "status" });
  // No spelling service and no memory of forms may see what is typed.
  const input = element("input", {
    id, type: "text", role: "combobox", "aria-controls": list.id, "aria-expanded": "false",
    "aria-autocomplete": "list", "aria-labelledby": `${id}-text`, "aria-describedby": status.id,
    autocomplete: "off", autocapitalize: "off", autocorrect: "off", spellcheck: "false",
  });

  function activate(place) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = place;
    const item = list.children[place];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) input.setAttribute("aria-activedescendant", item.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function show(found) {
    activate(-1);
    listed = found;
    list.replaceChildren(...found.map((line, place) => {
      const item = element("li", { id: `${id}-${place}`, role: "option" }, options[line]);
      item.setAttribute("aria-selected", "false");
      item.addEventListener("click", () => take(place));
      return item;
    }));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  function look() {
    choose(null);
    index ??= indexed(options);
    const found = matches(index, input.value);
    show(found);
    status.textContent = hint(found.length);
  }

  function take(place) {
    input.value = choose(listed[place]);
    show([]);
    status.textContent = input.value === "" ? hint(0) : "Chosen from the list.";
  }

  function hint(count) {
    if (input.value.trim() === "") return `Type to search ${counted(options.length)} options.`;
    if (count === SHOWN) return `The first ${SHOWN} matches; type more to narrow them down.`;
    return count === 0 ? "No option matches." : `${count} ${count === 1 ? "match" : "matches"}.`;
  }

  // The place of the option that was typed in full, if it is clear which: then it need not be
  // picked from the list as well.
  function whole() {
    const typed = input.value.trim();
    const same = listed.findIndex((line) => options[line] === typed);
    if (same >= 0) return same;
    const alike = listed.filter((line) => folded(options[line]) === folded(typed));
    return alike.length === 1 ? listed.indexOf(alike[0]) : -1;
  }

  function steer(event) {
    if (event.key === "ArrowDown") activate(Math.min(active + 1, listed.length - 1));
    else if (event.key === "ArrowUp") activate(Math.max(active - 1, -1));
    else if (event.key === "Escape") show([]);
    else if (event.key !== "Enter") return;
    else if (active >= 0) take(active);
    else if (listed.length === 1) take(0);
    else if (whole() >= 0) take(whole());
    event.preventDefault(); // Enter in this box never submits the form
  }

  input.addEventListener("focus", () => { index ??= indexed(options); });
  input.addEventListener("blur", () => (whole() >= 0 ? take(whole()) : show([])));
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
  input.addEventListener("input", look);
  input.addEventListener("keydown", steer);
  status.textContent = hint(0);
  return {
    box: element("div", {}, input, list, status),
    focus: () => input.focus(),
    clear() {
      choose(null);
      input.value = "";
      show([]);
    },
  };
}
