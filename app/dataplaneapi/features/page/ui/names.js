// Names of objects as the API writes them: kind/name[/kind/name], with / * and % of a name percent-encoded.

/** ["backend", "shop", "server", "web1"] */
export const parse = (object) => object.split("/").map(decodeURIComponent);

export const spell = (...parts) => parts.map((part) => part.replace(/[%/*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)).join("/");

/** Return the short name of an object: shop/web1, public. */
export function short(object) {
  const parts = parse(object);
  return parts.length === 4 ? `${parts[1]}/${parts[3]}` : (parts[1] ?? object);
}

/** Encode a path segment. */
export const segment = encodeURIComponent;
