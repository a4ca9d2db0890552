// The text of a configuration as its sections: pure functions.

/**
 * The sections of a text: {id, keyword, title, first, last}, with lines from 0; comments directly above a header belong to it. `keywords`
 * are the words that begin a section.
 */
export function sectionsOf(text, keywords) {
  const lines = text.split("\n"), begins = new Set(keywords), found = [], times = new Map();
  lines.forEach((line, index) => {
    const [keyword, name = ""] = line.trim().split(/\s+/);
    if (!begins.has(keyword)) return;
    const title = name && name !== "from" ? `${keyword} ${name}` : keyword;
    const count = (times.get(title) ?? 0) + 1;
    times.set(title, count);
    found.push({ id: count > 1 ? `${title} #${count}` : title, keyword, title: count > 1 ? `${title} (${count})` : title, first: withComments(lines, index, found.at(-1)?.header ?? -1), header: index });
  });
  return found.map((each, index) => ({ ...each, last: lastOf(lines, each.header, (found[index + 1]?.first ?? lines.length) - 1) }));
}

/** Blank lines at the end of a section stand between it and the next. */
function lastOf(lines, header, end) {
  while (end > header && !lines[end].trim()) end -= 1;
  return end;
}

function withComments(lines, header, before) {
  let first = header;
  while (first - 1 > before && lines[first - 1].startsWith("#") && !/^# _\w+=/.test(lines[first - 1])) first -= 1;
  // What stands above the first section is the head of the file.
  return before < 0 ? header : first;
}

/** The text of one section, or of several in a row. */
export const textOf = (text, { first, last }) => text.split("\n").slice(first, last + 1).join("\n");

export const trimmed = (text) => text.replace(/(\n[ \t\r]*)+$/, "");

/** The whole text with another one in the place of a section; what stands around it stays to the letter. */
export function replaced(text, { first, last }, other) {
  const lines = text.split("\n"), made = [...lines.slice(0, first), trimmed(other), ...lines.slice(last + 1)].join("\n");
  return made.endsWith("\n") ? made : `${made}\n`;
}
