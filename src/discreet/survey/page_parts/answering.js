// From true answers to what leaves this page: randomized, kept, shown, and then saved or sent.

function start() {
  let memory;
  try {
    memory = readMemory();
  } catch {
    warn("What your browser kept for this survey is damaged. To begin anew would randomize your "
      + "answers a second time and tell more than promised, so nothing is asked here.");
    return;
  }
  if (memory === null && needsMemory) {
    warn("This survey may ask again later, and your browser does not keep anything for this "
      + "page. Without a memory your answers could be averaged out over the times you are asked, "
      + "so nothing is asked here. Please allow this page to keep data, or use another browser.");
    return;
  }
  const earlier = memory?.waves[form.wave];
  if (earlier !== undefined) {
    show(earlier, "You have already answered in this browser. This is the randomized report of "
      + "that time; sending it again tells nobody anything new. Another person can answer in a "
      + "private window.");
    return;
  }
  ask(memory ?? emptyMemory());
}

// Permanent questions that were answered before, in whichever survey, are not asked again.
function ask(memory) {
  const known = form.questions.filter(({ name }) => Object.hasOwn(memory.permanent, name));
  const asked = form.questions.filter(({ name }) => !Object.hasOwn(memory.permanent, name));
  byId("known").hidden = known.length === 0;
  byId("known").append(...known.flatMap(({ text }) => [element("br"), text]));
  const fields = new Map(asked.map((question, number) => [question.name, field(question, number)]));
  byId("fields").replaceChildren(...Array.from(fields.values(), ({ row }) => row));
  byId("questions").hidden = false;
  byId("questions").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(fields);
  });
}

function answer(fields) {
  const wrong = Array.from(fields.values()).filter((each) => each.problem() !== "");
  if (wrong.length > 0) {
    wrong[0].focus();
    return;
  }
  let report;
  try {
    report = randomized((name) => fields.get(name).value());
  } catch {
    warn("Nothing was randomized, kept or sent: your browser did not give this page chance that "
      + "nobody can foretell, or no room to keep a randomized answer. Please use another browser.");
    return;
  }
  forget(fields);
  show(report, "Your true answers are gone from this page. What follows is randomized, and it "
    + "is all that anyone will see."
    + (keptAReport() ? "" : " Your browser keeps nothing for this page: please do not answer twice."));
}

// The report of this wave: the one that was kept, or a new one, kept before it is shown.
// `truth(name)` is only asked for questions without a permanent answer.
function randomized(truth) {
  let memory = readMemory();
  if (memory === null && needsMemory) throw new Error("nothing can be kept");
  memory ??= emptyMemory();
  if (memory.waves[form.wave] !== undefined) return memory.waves[form.wave];
  const report = { survey: form.survey, id: mark(), wave: form.wave };
  for (const { name, permanent, randomizer } of form.questions) {
    report[name] = Object.hasOwn(memory.permanent, name)
      ? memory.permanent[name]
      : randomizers[randomizer.kind](truth(name), randomizer);
    if (permanent) memory.permanent[name] = report[name];
  }
  memory.waves[form.wave] = report;
  if (!writeMemory(memory) && needsMemory) throw new Error("nothing can be kept");
  return report;
}

// The form is emptied field by field and then removed, so that neither the page nor a browser
// that restores pages still holds a true answer.
function forget(fields) {
  for (const each of fields.values()) each.clear();
  fields.clear();
  byId("questions").reset();
  byId("fields").replaceChildren();
  byId("questions").hidden = true;
}

function show(report, note) {
  const line = JSON.stringify(report) + "\n";
  byId("result-note").textContent = note;
  byId("answers").replaceChildren(...form.questions.flatMap((question) => [
    element("dt", {}, question.text),
    element("dd", {}, inWords(question, report[question.name])),
  ]));
  byId("report").textContent = line;
  byId("card").hidden = true;
  byId("notice").hidden = true;
  byId("result").hidden = false;
  byId("save").addEventListener("click", () => save(line, report.id));
  if (form.post) {
    byId("send").hidden = false;
    byId("send").addEventListener("click", () => send(line));
  }
  byId("result-title").focus();
}

function save(line, id) {
  const address = URL.createObjectURL(new Blob([line], { type: "application/jsonl" }));
  element("a", { href: address, download: `report-${id}.jsonl` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  say("The report was saved as a file. It is for whoever asked you to answer: they need it to "
    + "count you, and it holds nothing but what is shown above.");
}

// No cookies, no address of this page: the request carries the report and no more.
async function send(line) {
  byId("send").disabled = true;
  say("Sending …");
  try {
    const reply = await fetch(form.post, {
      method: "POST", body: line, headers: { "Content-Type": "application/json" },
      credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error",
    });
    if (!reply.ok) throw new Error(`the server replied ${reply.status}`);
    say("Sent. Thank you.");
  } catch (problem) {
    byId("send").disabled = false;
    say(`The report could not be sent (${problem.message}). You can try again, which sends the `
      + "same report, or save it as a file.");
  }
}

function say(text) {
  byId("outcome").textContent = text;
}

function warn(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = false;
}

start();
