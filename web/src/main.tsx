// Starts the page: takes the token, connects, and shows what the address asks for.

import { render } from "preact";
import { App } from "./app/app.tsx";
import { Commands } from "./state/commands.ts";
import { Connection } from "./state/connection.ts";
import { Notices } from "./state/notices.ts";
import { Router } from "./state/router.ts";
import { Theme } from "./state/theme.ts";
import { takeToken } from "./state/token.ts";
import "./style/tokens.css";
import "./style/base.css";

const token = takeToken();
const router = new Router();
router.open();
const parts = {
  connection: new Connection(location.origin + location.pathname.replace(/\/+$/, "")),
  router,
  theme: new Theme(),
  notices: new Notices(),
  commands: new Commands(),
};
const root = document.querySelector("#page");
if (root !== null) render(<App {...parts} token={token} />, root);
