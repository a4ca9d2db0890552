// Bundles each entry into one module, and writes down beside them what they are made of: licences, versions, hashes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const [out, reference] = process.argv.slice(2);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const packages = new Map();
for (const entry of readdirSync("entries").sort()) {
  const made = await build({
    entryPoints: [join("entries", entry)],
    outfile: join(out, entry),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    metafile: true,
  });
  for (const input of Object.keys(made.metafile.inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name) packages.set(name, [...new Set([...(packages.get(name) ?? []), entry])]);
  }
}

const lock = JSON.parse(readFileSync("package-lock.json")).packages;
const licences = [];
const rows = {};
for (const name of [...packages.keys()].sort()) {
  const from = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(from, "package.json")));
  rows[name] = { version, license, integrity: lock[from].integrity, in: packages.get(name) };
  const file = readdirSync(from).find((each) => /^licen[sc]e/i.test(each));
  licences.push(`${name} ${version} (${license})\n\n${file ? readFileSync(join(from, file), "utf8").trim() : ""}\n`);
}
writeFileSync(join(out, "LICENSES.txt"), licences.join(`\n${"-".repeat(78)}\n\n`));

const sha256 = {};
for (const file of readdirSync(out).sort()) sha256[basename(file)] = createHash("sha256").update(readFileSync(join(out, file))).digest("hex");
writeFileSync(join(out, "vendor.json"), JSON.stringify({ packages: rows, sha256 }, null, 2) + "\n");

// The API reference has Swagger UI as it is published.
const from = "node_modules/swagger-ui-dist", hashes = {};
const copies = { LICENSE: "LICENSE.swagger-ui", NOTICE: "NOTICE.swagger-ui" };
for (const file of ["LICENSE", "NOTICE", "favicon-32x32.png", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"]) {
  const to = join(reference, copies[file] ?? file);
  copyFileSync(join(from, file), to);
  hashes[basename(to)] = createHash("sha256").update(readFileSync(to)).digest("hex");
}
const { version, license } = JSON.parse(readFileSync(join(from, "package.json")));
const viewer = { version, license, integrity: lock[from].integrity };
writeFileSync(join(reference, "vendor.json"), JSON.stringify({ packages: { "swagger-ui-dist": viewer }, sha256: hashes }, null, 2) + "\n");
