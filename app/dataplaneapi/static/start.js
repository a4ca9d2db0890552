// The API reference: Swagger UI over the OpenAPI 3 document, grouped by task, with examples that a test has run.

"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const VERSION = "/v3/services/haproxy/configuration/version";
const LONG_ENOUGH_TO_OPEN = 3;

const read = async (name) => (await fetch(`/v3/docs/${name}`)).json();
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Rewrite the document for readers: tags are tasks, summaries are not repeated, examples stand beside their schemas. */
function forReaders(api, tasks, examples) {
  const taskOf = new Map(tasks.flatMap((task) => task.operations.map((id) => [id, task.name])));
  for (const item of Object.values(api.paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const operation = item[method], example = examples[operation.operationId];
      operation.tags = [taskOf.get(operation.operationId) ?? operation.tags[0]];
      if (operation.description === `${operation.summary}.`) delete operation.description;
      if (example) addExample(operation, example);
    }
  }
  api.tags = tasks.map(({ name, text }) => ({ name, description: text }));
  api.servers = [{ url: new URL("/v3", location).href }];
  return api;
}

function addExample(operation, { body, file, status, answer }) {
  const shown = body ?? file?.content;
  if (shown !== undefined) {
    for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) if (type !== "multipart/form-data") content.example = shown;
  }
  if (answer === undefined) return;
  for (const content of Object.values(operation.responses[status]?.content ?? {})) content.example = answer;
}

/** Return a command that runs as it is once AUTH is set. */
function curl(method, path, operation, example) {
  const isWrite = method !== "get", declared = operation.parameters ?? [];
  const query = Object.entries(example?.query ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  const url = `${location.origin}/v3${example?.path ?? path}`;
  const takesVersion = isWrite && (example?.version ?? declared.some((each) => (each.$ref ?? "").endsWith("/version")));
  const version = takesVersion ? `version=$(curl -s -u "$AUTH" ${location.origin}${VERSION})` : "";
  const all = [version, query].filter(Boolean).join("&");
  // Within double quotes the shell replaces the version; a path has nothing else that it would replace.
  const target = `"${url}${all ? `?${all}` : ""}"`;
  const parts = ['curl -s -u "$AUTH"', ...(method === "get" ? [] : [`-X ${method.toUpperCase()}`])];
  let before = "";
  if (example?.file) {
    const { name, content, upload } = example.file;
    if (content !== undefined) before = `printf %s ${quoted(content)} | `;
    const from = content === undefined ? name : "-";
    parts.push(upload ? `-F 'file_upload=@${from};filename=${name}'` : `-H 'Content-Type: text/plain' --data-binary @${from}`);
  } else if (example?.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example.body))}`);
  }
  return `${before}${[...parts, target].join(" \\\n  ")}`;
}

/** Match an operation that has every word of the phrase somewhere in its method, path, summary or id. */
function filtered(groups, phrase) {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (each, task) => {
    const operation = each.get("operation");
    const text = [each.get("method"), each.get("path"), operation.get("summary"), operation.get("operationId"), task].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return groups
    .map((group, task) => group.set("operations", group.get("operations").filter((each) => matches(each, task))))
    .filter((group) => group.get("operations").size > 0);
}

function plugin(examples, tasks, api) {
  return ({ React }) => {
    const h = React.createElement;
    function Command({ path, method }) {
      const [isCopied, setCopied] = React.useState(false);
      const operation = api.paths[path][method], example = examples[operation.operationId];
      const text = curl(method, path, operation, example);
      const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
      return h("div", { className: "command" },
        h("div", { className: "command-head" }, h("h4", null, "Command"), h("button", { type: "button", className: "btn", onClick: copy }, isCopied ? "Copied" : "Copy")),
        h("pre", { tabIndex: 0 }, text));
    }
    return {
      fn: { opsFilter: filtered },
      statePlugins: {
        layout: {
          wrapActions: {
            updateFilter: (original, system) => (phrase) => {
              const isLong = typeof phrase === "string" && phrase.length >= LONG_ENOUGH_TO_OPEN;
              // Past layoutActions, which would put each group into the address.
              for (const { name } of tasks) system.getStore().dispatch({ type: "layout_show", payload: { thing: ["operations-tag", name], shown: isLong } });
              return original(phrase);
            },
          },
        },
      },
      wrapComponents: {
        parameters: (Original) => (props) => h("div", null, h(Command, { path: props.pathMethod[0], method: props.pathMethod[1] }), h(Original, props)),
      },
    };
  };
}

async function start() {
  const [document_, tasks, examples] = await Promise.all(["openapi.json", "tasks.json", "examples.json"].map(read));
  const spec = forReaders(document_, tasks, examples);
  SwaggerUIBundle({
    spec,
    dom_id: "#documentation",
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    filter: true,
    plugins: [plugin(examples, tasks, spec)],
  });
}

start().catch((error) => {
  document.getElementById("documentation").textContent = `The API reference cannot be shown: ${error.message}`;
});
