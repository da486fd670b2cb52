// Builds the viewer for exported runs (`src/export/main.tsx`) into one HTML file without any request: `assets/run-viewer.html`. The page
// fetches it when a run is exported and puts the data into it.
//
// Script and style are inside, and a policy in the file allows exactly this script and no network.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig, type Plugin, type Rolldown } from "vite";

const ENTRY = fileURLToPath(new URL("src/export/main.tsx", import.meta.url));
const PAGE = fileURLToPath(new URL("src/export/index.html", import.meta.url));
export const RUN_VIEWER = "assets/run-viewer.html";

/** `shared`: what this build has in common with that of the page. */
export function runViewer(shared: InlineConfig): Plugin {
  return {
    name: "run-viewer",
    async generateBundle() {
      this.emitFile({ type: "asset", fileName: RUN_VIEWER, source: await buildViewer(shared) });
    },
    configureServer(server) {
      server.middlewares.use(`/${RUN_VIEWER}`, (_request, response, next) => {
        buildViewer(shared).then((html) => response.setHeader("content-type", "text/html").end(html), next);
      });
    },
  };
}

async function buildViewer(shared: InlineConfig): Promise<string> {
  const built = (await build({
    ...shared,
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      target: "es2022",
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: { input: ENTRY, output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput;
  const script = built.output.find((file) => file.type === "chunk")?.code ?? "";
  const styles = built.output.flatMap((file) =>
    file.type === "asset" && file.fileName.endsWith(".css") ? [file] : [],
  );
  const style = styles.map(({ source }) => String(source)).join("\n");
  return toPage(script, style);
}

function toPage(script: string, style: string): string {
  // Neither may end its element.
  const code = script.replaceAll(/<\/(script)/gi, String.raw`<\/$1`).replaceAll("<!--", String.raw`<\!--`);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(code)}'`,
    // Styles that scripts set need no permission; the parts for code add style elements of their own.
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <style>${style}</style>\n  </head>`;
  return readFileSync(PAGE, "utf8")
    .replace("</head>", () => head)
    .replace("</body>", () => `<script type="module">${code}</script>\n  </body>`);
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
