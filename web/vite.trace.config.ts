import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

import { common } from "./vite.config.ts";

/** Builds what the page of a bot's test loads: one script and one style, which need no server. */
export default defineConfig({
  plugins: [react(), ...common.plugins],
  resolve: common.resolve,
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    outDir: `${process.env["MOOTHALL_CLIENT"] ?? "dist"}/trace`,
    emptyOutDir: true,
    target: "es2022",
    copyPublicDir: false,
    lib: {
      entry: "src/trace/main.tsx",
      formats: ["iife"],
      name: "trace",
      fileName: () => "trace.js",
      cssFileName: "trace",
    },
  },
});
