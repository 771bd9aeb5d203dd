import { defineConfig } from "vitest/config";

export default defineConfig({ test: { setupFiles: ["./dist/clock.js"], include: ["examples/**/*.vitest.mjs"], testTimeout: 30_000, hookTimeout: 30_000 } });
