// What this browser keeps: randomized answers only. The report of a wave is kept so that
// answering again sends the same one, and permanent answers are sent again whenever their question
// comes back; otherwise the noise of several reports could be averaged away. A permanent answer is
// kept under the digest of its question alone, so that it is the same in every survey of this
// address; reports are kept under the digest of the survey.

const REPORTS = `discreet survey 2 reports ${form.survey}`;
const permanent = form.questions.filter((question) => question.permanent);
const needsMemory = form.waves > 1 || permanent.length > 0;

function answerKey(question) {
  return `discreet survey 2 answer ${question.kept_as}`;
}

function emptyMemory() {
  return { waves: {}, permanent: {} };
}

// Returns null where the browser keeps nothing, and throws where what it kept is not what a page
// like this one wrote: that is no new beginning.
function readMemory() {
  let reports;
  let answers;
  try {
    reports = localStorage.getItem(REPORTS);
    answers = permanent.map((question) => localStorage.getItem(answerKey(question)));
  } catch {
    return null;
  }
  const memory = emptyMemory();
  permanent.forEach((question, place) => {
    if (answers[place] === null) return;
    memory.permanent[question.name] = sound(question, JSON.parse(answers[place]));
  });
  if (reports !== null) memory.waves = JSON.parse(reports);
  for (const [wave, report] of Object.entries(memory.waves)) checkReport(report, wave, memory);
  return memory;
}

function checkReport(report, wave, memory) {
  const here = report.survey === form.survey && report.wave === Number(wave);
  if (!here || !/^[0-9a-f]{32}$/.test(report.id)) throw new Error("no report of this wave");
  for (const question of form.questions) sound(question, report[question.name]);
  // Both are kept at once, so the one is there where the other is.
  for (const { name } of permanent) {
    if (report[name] !== memory.permanent[name]) throw new Error("a permanent answer is lost");
  }
}

// The answer, if it has the form of a report to this question.
function sound({ report, outcomes }, answer) {
  const fits = report === "integer"
    ? Number.isInteger(answer) && answer >= 0 && answer < outcomes
    : typeof answer === "string" && answer.length === outcomes && /^[01-]*$/.test(answer);
  if (!fits) throw new Error("no randomized answer");
  return answer;
}

// Returns whether it was kept: permanent answers first, since no report may be known without them.
function writeMemory(memory) {
  try {
    return permanent.every((question) => wrote(answerKey(question), memory.permanent[question.name]))
      && wrote(REPORTS, memory.waves);
  } catch {
    return false;
  }
}

function keptAReport() {
  try {
    return localStorage.getItem(REPORTS) !== null;
  } catch {
    return false;
  }
}

function wrote(key, value) {
  const text = JSON.stringify(value);
  localStorage.setItem(key, text);
  return localStorage.getItem(key) === text;
}
