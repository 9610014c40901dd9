/** English, by page; what several pages say is in `common`. */
export { change, changes } from "./changes";
export { cluster, drift, groups, machines, nodes, proposal, timeline } from "./cluster";
export { common, conditions, locale, scopes, stages } from "./common";
export { create } from "./create";
export { reasons, types } from "./engine";
export { fleet } from "./fleet";
export { frame, news, problems } from "./frame";
export { happenings } from "./happenings";
export { login } from "./login";
export { logs, pods } from "./logs";
export { plan } from "./plan";
export { deletion, policy, settings } from "./settings";
export { storage } from "./storage";
export { tokens } from "./tokens";
