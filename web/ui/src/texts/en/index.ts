/** English, by page; what several pages say is in `common`. */
import { change, changes } from "./changes";
import { cluster, drift, groups, machines, nodes, proposal, timeline } from "./cluster";
import { common, conditions, scopes } from "./common";
import { create } from "./create";
import { fleet } from "./fleet";
import { frame, news, problems } from "./frame";
import { login } from "./login";
import { plan } from "./plan";
import { tokens } from "./tokens";

export const en = {
  locale: "en",
  common,
  conditions,
  scopes,
  frame,
  news,
  problems,
  login,
  fleet,
  tokens,
  plan,
  changes,
  change,
  cluster,
  groups,
  machines,
  proposal,
  nodes,
  drift,
  timeline,
  create,
};
