// The views in the order of the menu. A view is {name, title, key, component, isShown}. Without `isShown`, it is always in the menu.

import { state } from "../store.js";
import { CertificatesView } from "./certificates.js";
import { ConfigurationView } from "./configuration.js";
import { DriftView } from "./drift.js";
import { FeedView } from "./feed.js";
import { FleetView } from "./fleet.js";
import { HistoryView } from "./history.js";
import { ListsView } from "./lists.js";
import { MapView } from "./map.js";
import { ReloadsView } from "./reloads.js";
import { ServersView } from "./servers.js";
import { SplitsView } from "./splits.js";
import { TablesView } from "./tables.js";
import { TestsView } from "./tests.js";
import { WorkersView } from "./workers.js";

export const VIEWS = [
  { name: "map", title: "Map", key: "m", component: MapView },
  { name: "request", title: "Request", key: "q", component: MapView },
  { name: "events", title: "Events", key: "v", component: FeedView },
  { name: "servers", title: "Servers", key: "s", component: ServersView },
  { name: "splits", title: "Splits", key: "p", component: SplitsView },
  { name: "lists", title: "Lists", key: "l", component: ListsView },
  { name: "tables", title: "Stick tables", key: "k", component: TablesView },
  { name: "certificates", title: "Certificates", key: "c", component: CertificatesView },
  { name: "configuration", title: "Configuration", key: "e", component: ConfigurationView },
  { name: "tests", title: "Tests", key: "t", component: TestsView },
  { name: "history", title: "History", key: "h", component: HistoryView },
  { name: "reloads", title: "Reloads", key: "r", component: ReloadsView },
  { name: "workers", title: "Workers", key: "w", component: WorkersView },
  { name: "drift", title: "Drift", key: "d", component: DriftView },
  { name: "fleet", title: "Fleet", key: "f", component: FleetView, isShown: () => state.isInFleet },
];

/** Return the views of this server. */
export const shownViews = () => VIEWS.filter(({ isShown }) => isShown?.() ?? true);
