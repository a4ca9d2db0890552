// Completions for the editor: words that the API declares (words.js), and names in the text itself.

const CONDITIONS = new Set(["if", "unless"]);
const AT_MOST = 200;

/** Return {from, found, isWhole}: words that may replace the text between `from` and the caret, and whether that text is such a word already. */
export function completions(words, { text, caret, whole, keyword }) {
  const begin = text.lastIndexOf("\n", caret - 1) + 1, line = text.slice(begin, caret);
  const partial = /\S*$/.exec(line)[0], before = line.slice(0, line.length - partial.length).trim().split(/\s+/).filter(Boolean);
  if (line.trimStart().startsWith("#")) return { from: caret, found: [], isWhole: false };
  const section = sectionAt(words, text, begin) ?? keyword;
  const all = new Set([...named(words, before, whole), ...conditions(before, text), ...[...options(words, before), ...lines(words, section, before)].sort()]);
  if (!before.length) words.sections.forEach((each) => all.add(each));
  const bare = partial.replace(/^!/, ""), found = [...all].filter((each) => each.startsWith(bare) && each !== bare);
  return { from: caret - bare.length, found: found.slice(0, AT_MOST), isWhole: all.has(bare) };
}

/** Return the keyword of the section that contains a position. */
function sectionAt(words, text, begin) {
  const begins = new Set(words.sections);
  for (let end = begin - 1; end > 0; ) {
    const start = text.lastIndexOf("\n", end - 1) + 1, word = text.slice(start, end).trim().split(/\s+/)[0];
    if (begins.has(word)) return word;
    end = start - 1;
  }
  return undefined;
}

/** Return the words that may come next in a line of this section. */
function lines(words, section, before) {
  const found = [];
  for (const [sections, tree] of words.lines) {
    if (!sections.includes(section)) continue;
    const behind = before.reduce((at, word) => (typeof at === "string" ? "" : (at[word] ?? "")), tree);
    const { "": ends = "", ...more } = typeof behind === "string" ? { "": behind } : behind;
    found.push(...ends.split(" ").filter(Boolean), ...Object.keys(more));
  }
  return found;
}

/** Return the options of a server or a bind line, which may be in any order after its name and address. */
function options(words, before) {
  const [keyword] = before, kind = Object.keys(words.options).find((each) => keyword === each || keyword?.startsWith(`${each}-`) || keyword === `default-${each}`);
  if (!kind || (before.length < 2 && !keyword.startsWith("default-"))) return [];
  const last = before.at(-1), all = words.options[kind];
  const behind = all.filter((each) => each.startsWith(`${last} `)).map((each) => each.slice(last.length + 1).split(" ")[0]);
  return behind.length ? behind : all.map((each) => each.split(" ")[0]);
}

/** Return the names of sections to which the previous word may refer. */
function named(words, before, whole) {
  const kinds = words.names[before.at(-1)];
  if (!kinds) return [];
  return [...whole.matchAll(/^[ \t]*(\S+)[ \t]+(\S+)/gm)].filter(([, keyword]) => kinds.includes(keyword)).map(([, , name]) => name);
}

/** Return the names of ACLs if the line has a condition. */
function conditions(before, text) {
  if (!before.some((each) => CONDITIONS.has(each))) return [];
  return [...text.matchAll(/^[ \t]*acl[ \t]+(\S+)/gm)].map(([, name]) => name);
}
