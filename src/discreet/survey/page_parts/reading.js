// A randomized answer in words, for the respondent who decides whether to send it.

function inWords(question, report) {
  switch (question.randomizer.kind) {
    case "levels": return levelInWords(question, report);
    case "unary":
    case "items": return bitsInWords(question, report);
    case "projective": return `Number ${counted(report)}, which stands for about one option in `
      + `${counted(question.randomizer.prime)} at once.`;
    default: return optionText(question, report);
  }
}

function optionText({ kind, options }, option) {
  if (kind === "yes_no") return option === 1 ? "Yes" : "No";
  return Array.isArray(options) ? options[option] : String(option);
}

function levelInWords({ lower, upper, unit, outcomes }, level) {
  const least = ratio(lower);
  const number = least + ((ratio(upper) - least) * level) / (outcomes - 1);
  return `${Number(number.toPrecision(6))}${unit ? ` ${unit}` : ""}`;
}

function bitsInWords(question, report) {
  const saying = (bit) => Array.from(report).flatMap((found, option) =>
    (found === bit ? [optionText(question, option)] : []));
  const halves = [["yes to", saying("1")], ["no to", saying("0")]];
  const said = halves.flatMap(([word, texts]) =>
    (texts.length > 0 ? [`${word} ${listed(texts)}`] : [])).join("; ");
  const sentence = `${said[0].toUpperCase()}${said.slice(1)}.`;
  return report.includes("-") ? `${sentence} Nothing is said about the others.` : sentence;
}

function listed(texts) {
  const first = texts.slice(0, SHOWN).join(", ");
  return texts.length > SHOWN ? `${first} and ${counted(texts.length - SHOWN)} more` : first;
}
