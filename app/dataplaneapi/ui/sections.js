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

/**
 * The text with the lines by which states of servers reach a ring. `global` and `defaults` of `wanted` are lines of such sections, any
 * other name is a section of its own. A proxy without such defaults, or with `log` lines of its own, has the line itself.
 */
export function withLines(text, wanted, keywords) {
  const { global, defaults, ...others } = wanted, lines = text.split("\n"), sections = sectionsOf(text, keywords);
  const named = (line) => line.trim().split(/\s+/).slice(0, 2).join(" ");
  const own = (each) => lines.slice(each.header + 1, each.last + 1).map(named);
  const [globals, isAny] = [sections.filter((each) => each.keyword === "global"), sections.some((each) => each.keyword === "defaults")];
  const isProxy = (each) => ["backend", "listen"].includes(each.keyword) && (!isAny || own(each).some((line) => line.startsWith("log ")));
  const added = sections.filter((each) => (each.keyword === "defaults" || isProxy(each)) && !own(each).includes(named(defaults))).map((each) => [each.last, defaults]);
  if (globals.length && !globals.flatMap(own).includes(named(global))) added.push([globals.at(-1).last, global]);
  added.sort(([a], [b]) => b - a).forEach(([last, line]) => lines.splice(last + 1, 0, line.trimEnd()));
  const made = Object.entries(others).filter(([title]) => !sections.some((each) => each.title === title)).map(([, section]) => section);
  if (!globals.length) made.unshift(`global\n${global}`);
  return `${trimmed(lines.join("\n"))}\n${made.map((section) => `\n${section.trimEnd()}\n`).join("")}`;
}

/** The text of one section, or of several in a row. */
export const textOf = (text, { first, last }) => text.split("\n").slice(first, last + 1).join("\n");

export const trimmed = (text) => text.replace(/(\n[ \t\r]*)+$/, "");

/** The whole text with another one in the place of a section; what stands around it stays to the letter. */
export function replaced(text, { first, last }, other) {
  const lines = text.split("\n"), made = [...lines.slice(0, first), trimmed(other), ...lines.slice(last + 1)].join("\n");
  return made.endsWith("\n") ? made : `${made}\n`;
}
