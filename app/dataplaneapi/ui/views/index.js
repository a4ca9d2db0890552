// The views, in the order of the menu. A view is {name, title, key, component}.

import { MapView } from "./map.js";
import { ServersView } from "./servers.js";

export const VIEWS = [
  { name: "map", title: "Map", key: "m", component: MapView },
  { name: "servers", title: "Servers", key: "s", component: ServersView },
];
