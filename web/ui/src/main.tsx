import "@cloudscape-design/global-styles/index.css";
import "./frame/frame.css";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "./api/client";
import { sessionQuery } from "./api/session";
import { App } from "./app";
import { beginLook } from "./frame/look";

beginLook();
const queries = makeQueryClient();
if (!globalThis.location.pathname.startsWith("/login")) void queries.prefetchQuery(sessionQuery); // beside the page's code
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App queries={queries} />);
