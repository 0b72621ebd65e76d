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
  const yes = saying("1");
  const no = saying("0");
  const said = `Yes to ${listed(yes)}; no to ${listed(no)}.`;
  return report.includes("-") ? `${said} Nothing is said about the others.` : said;
}

function listed(texts) {
  if (texts.length === 0) return "none";
  const first = texts.slice(0, SHOWN).join(", ");
  return texts.length > SHOWN ? `${first} and ${counted(texts.length - SHOWN)} more` : first;
}
