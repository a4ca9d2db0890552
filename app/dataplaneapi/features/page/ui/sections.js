// The sections of a configuration text: pure functions.

/**
 * Return the sections of a text: {id, keyword, title, first, last}, with lines from 0. Comments directly above a header belong to its section.
 * `keywords` are the words that begin a section.
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

/** Return the last line of a section that is not blank. */
function lastOf(lines, header, end) {
  while (end > header && !lines[end].trim()) end -= 1;
  return end;
}

function withComments(lines, header, before) {
  let first = header;
  while (first - 1 > before && lines[first - 1].startsWith("#") && !/^# _\w+=/.test(lines[first - 1])) first -= 1;
  // Comments above the first section belong to the file.
  return before < 0 ? header : first;
}

/** Return the text of one section, or of adjacent sections. */
export const textOf = (text, { first, last }) => text.split("\n").slice(first, last + 1).join("\n");

export const trimmed = (text) => text.replace(/(\n[ \t\r]*)+$/, "");

/** Return the whole text with another text for one section. The rest does not change. */
export function replaced(text, { first, last }, other) {
  const lines = text.split("\n"), made = [...lines.slice(0, first), trimmed(other), ...lines.slice(last + 1)].join("\n");
  return made.endsWith("\n") ? made : `${made}\n`;
}
