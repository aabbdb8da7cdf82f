import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { at, readJson } from "./paths.mjs";

const INTERCEPTORS = "@mswjs/interceptors";
/** The npm modules in that file. */
export const BUNDLED_INTERCEPTORS = [INTERCEPTORS, "@open-draft/until", "debug", "ms", "outvariant", "rettime"];
const WASM = 'fs.readFileSync(new URL("./llhttp/llhttp.wasm", wasmBaseUrl))';
const ENTRY = "\0interceptors";

/**
 * Builds the interceptor of HTTP requests on sockets into dist/vendor/interceptors.cjs. It is loaded synchronously, at the
 * first connection of a program.
 *
 * @returns {import("rolldown").Plugin}
 */
export function bundleInterceptors() {
  let source;
  return {
    name: "bundle-interceptors",
    async generateBundle({ format }) {
      if (format === "cjs") return;
      source ??= await bundle();
      this.emitFile({ type: "asset", fileName: "vendor/interceptors.cjs", source });
    },
  };
}

async function bundle() {
  const entry = [
    `export { HttpRequestInterceptor } from "${INTERCEPTORS}/http";`,
    `import { SocketInterceptor } from "${INTERCEPTORS}/net";`,
    "export { SocketInterceptor };",
    "export const singleton = (type) => Object.getPrototypeOf(type).singleton(type);",
  ].join("\n");
  const wasm = readFileSync(at("node_modules", INTERCEPTORS, "lib/node/llhttp/llhttp.wasm")).toString("base64");
  const plugin = {
    name: "inline-wasm",
    resolveId: (id) => (id === ENTRY ? ENTRY : null),
    load: (id) => (id === ENTRY ? entry : null),
    transform: (code) => (code.includes(WASM) ? code.replace(WASM, `Buffer.from("${wasm}", "base64")`) : null),
  };
  const build = await rolldown({
    cwd: at(),
    input: ENTRY,
    platform: "node",
    external: ["supports-color"],
    plugins: [plugin],
  });
  try {
    const { output } = await build.generate({ format: "cjs", comments: false, minify: true });
    const { version } = readJson("node_modules", INTERCEPTORS, "package.json");
    const licence = readFileSync(at("node_modules", INTERCEPTORS, "LICENSE.md"), "utf8").trim();
    return `/*! ${INTERCEPTORS} ${version}\n\n${licence}\n*/\n${output[0].code}`;
  } finally {
    await build.close();
  }
}
