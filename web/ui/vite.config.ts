import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const service = process.env.INSTANTSTART_URL ?? "http://127.0.0.1:3099";

// `npm run dev`: pages from here, the API from a service that runs. The guard wants its own Host and Origin.
const proxied = { target: service, changeOrigin: true, headers: { Origin: service }, ws: true };

export default defineConfig({
  plugins: [react(), compressed()],
  server: { host: "127.0.0.1", proxy: { "/api": proxied } },
  build: {
    target: "es2023",
    manifest: "manifest.json",
    chunkSizeWarningLimit: 1500,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    css: false,
    server: { deps: { inline: [/@cloudscape-design/] } },
    testTimeout: 120_000,
    maxWorkers: 2,
    isolate: false,
    // Cloudscape's test helpers act() by themselves, outside of what React takes for a test.
    onConsoleLog: (text) => !text.includes("not configured to support act"),
  },
});

/** Beside each file what a browser gets over the wire, made once and not at each request. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle({ dir }) {
      if (dir === undefined) return;
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg|json)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const content = readFileSync(path);
        if (content.length < 1024) continue;
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
      }
    },
  };
}
