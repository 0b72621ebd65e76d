// Elements. Texts become text nodes and attributes, never markup: whatever a questionnaire says
// is shown as it was written.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function counted(number) {
  return number.toLocaleString("en");
}
