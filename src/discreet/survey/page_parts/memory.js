// What this browser keeps: randomized answers only. The report of a wave is kept so that
// answering again sends the same one, and permanent answers are sent again in every wave;
// otherwise the noise of several reports could be averaged away.

const MEMORY = `discreet survey ${form.survey}`;

function emptyMemory() {
  return { waves: {}, permanent: {} };
}

// Returns null where the browser keeps nothing.
function readMemory() {
  try {
    const kept = localStorage.getItem(MEMORY);
    return kept === null ? emptyMemory() : JSON.parse(kept);
  } catch {
    return null;
  }
}

// Returns whether it was kept.
function writeMemory(memory) {
  try {
    const text = JSON.stringify(memory);
    localStorage.setItem(MEMORY, text);
    return localStorage.getItem(MEMORY) === text;
  } catch {
    return false;
  }
}
