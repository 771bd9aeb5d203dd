import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { parse } from "@formatjs/icu-messageformat-parser";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";

import { emojiLocale, LOCALES } from "./src/i18n/locales.ts";

/** Where the development server passes requests on to. */
const SERVER = process.env.MOOTHALL_URL ?? "http://localhost:3333";

interface CompactEmoji {
  hexcode: string;
  label: string;
  unicode: string;
}

/** The standard emojis with their short names, and the name in a language: lists of an emoji and its names. */
function emojiNames(require: NodeJS.Require, locale: string): string {
  const emojis = require(`emojibase-data/${locale}/compact.json`) as CompactEmoji[];
  const short = require("emojibase-data/en/shortcodes/joypixels.json") as Record<string, string | string[]>;
  const names = emojis.map(({ hexcode, label, unicode }) => {
    const own = label.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_");
    return [unicode, ...new Set([...[short[hexcode] ?? []].flat(), own])];
  });
  return JSON.stringify(names);
}

/** Serves the data of the emoji picker and of completion from this server: no request goes to any other host. */
function emojiData(): Plugin {
  const require = createRequire(import.meta.url);
  const locales = [...new Set(LOCALES.map(emojiLocale))];
  const files = locales.flatMap((locale) =>
    ["data", "messages"].map((name) => ({
      fileName: `emojibase/${locale}/${name}.json`,
      source: readFileSync(require.resolve(`emojibase-data/${locale}/${name}.json`), "utf8"),
    })),
  );
  for (const locale of locales) {
    files.push({ fileName: `emojibase/${locale}/names.json`, source: emojiNames(require, locale) });
  }
  return {
    name: "emoji-data",
    generateBundle() {
      for (const file of files) {
        this.emitFile({ type: "asset", ...file });
      }
    },
  };
}

/** The font and its licence: its letters by script, each loaded where a page has some of them. */
const FONT = "@fontsource-variable/onest";
const FONT_SUBSETS = ["latin", "latin-ext", "cyrillic", "cyrillic-ext", "vietnamese"];

/** Puts the font where the styles of the client and of the server's pages name it. */
function font(): Plugin {
  const require = createRequire(import.meta.url);
  const read = (path: string) => readFileSync(require.resolve(`${FONT}/${path}`));
  return {
    name: "font",
    generateBundle() {
      for (const subset of FONT_SUBSETS) {
        const source = read(`files/onest-${subset}-wght-normal.woff2`);
        this.emitFile({ type: "asset", fileName: `fonts/onest-${subset}.woff2`, source });
      }
      this.emitFile({ type: "asset", fileName: "fonts/OFL.txt", source: read("LICENSE") });
    },
  };
}

/** Parses the ICU messages of src/i18n at build time, so that the client needs no parser. Refusals are none. */
function compiledMessages(): Plugin {
  return {
    name: "compiled-messages",
    enforce: "pre",
    transform(code, id) {
      if (!/\/src\/i18n\/(?!refusals\/)(?:\w+\/)?\w+\.json$/.test(id)) {
        return null;
      }
      const messages = JSON.parse(code) as Record<string, string>;
      const compiled = Object.entries(messages).map(([key, text]) => [key, parse(text)]);
      return { code: JSON.stringify(Object.fromEntries(compiled)), map: null };
    },
  };
}

/** Leaves out what the controls' library says in languages that the client does not have. */
function ownLanguages(): Plugin {
  return {
    name: "own-languages",
    apply: "build",
    enforce: "pre",
    load(id) {
      const [, language] = /\/react-aria\/dist\/private\/intl\/\w+\/([a-z]+)-[A-Z]+\.mjs$/.exec(id) ?? [];
      const isOther = language !== undefined && !LOCALES.some((locale) => locale === language);
      return isOther ? "export default undefined;" : null;
    },
  };
}

/** Empties the announcements of the controls' library without HTML, which the page's policy refuses. */
function announcementsWithoutHtml(): Plugin {
  return {
    name: "announcements-without-html",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      if (!/\/react-aria\/dist\/private\/live-announcer\/LiveAnnouncer\.mjs$/.test(id)) {
        return null;
      }
      const changed = code.replace(/\.innerHTML = ''/g, ".replaceChildren()");
      if (changed === code) {
        throw new Error("the announcements are not emptied by innerHTML any more");
      }
      return { code: changed, map: null };
    },
  };
}

/**
 * The modules whose files are kept with the page, beside its entry: languages, the screens before the first guild, and
 * what menus and dialogs need.
 */
const SHELL_MODULES =
  /\/src\/(?:i18n\/\w+\.json|features\/auth\/AuthPages\.tsx|ui\/(?:\w+Popover|ModalDialog)\.tsx)$/;
const EARLY_CHUNK = "early";
const CHANNEL_CHUNK = "channel";

/**
 * What is always loaded together is one file, since each costs the browser and the server time: what runs first, the
 * rest of what the page starts with, what shows a channel's messages, and what stands around them.
 */
const CHUNKS: Rolldown.CodeSplittingGroup[] = [
  { name: EARLY_CHUNK, test: /\/src\/early\.ts$/, priority: 3 },
  { name: "start", tags: ["$initial"], test: /^(?!.*\/src\/main\.tsx$)/, priority: 2 },
  {
    name: CHANNEL_CHUNK,
    test: /\/src\/features\/(?:messages\/Timeline|content\/Content)\.tsx$/,
    priority: 1,
  },
  { name: "beside", test: /\/src\/features\/(?:composer\/Composer|members\/MemberList)\.tsx$/, priority: 0 },
];

/** Files that the page needs and that are not modules of it: the gateway's worker, and what installed apps show. */
const SHELL_FILES = [
  "/icon.svg",
  "/icon-192.png",
  "/app/manifest.webmanifest",
  "/app/fonts/onest-latin.woff2",
];

/** Lets the browser run the early file as soon as it is there, not after all others. */
function earlyScript(): Plugin {
  return {
    name: "early-script",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const early = Object.values(bundle ?? {}).find(
          (chunk) => chunk.type === "chunk" && chunk.name === EARLY_CHUNK,
        );
        if (early === undefined) {
          throw new Error("the build has no early file");
        }
        const attrs = { type: "module", async: true, crossorigin: true, src: `/app/${early.fileName}` };
        return [{ tag: "script", attrs, injectTo: "head-prepend" }];
      },
    },
  };
}

/** Writes the service worker with the names of the files that it keeps. */
function serviceWorker(): Plugin {
  return {
    name: "service-worker",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const names = new Set<string>();
        const add = (name: string): void => {
          const chunk = bundle[name];
          if (chunk?.type !== "chunk" || names.has(name)) {
            return;
          }
          names.add(name);
          chunk.imports.forEach(add);
          chunk.viteMetadata?.importedCss.forEach((css) => names.add(css));
        };
        for (const chunk of Object.values(bundle)) {
          const isShell = chunk.type === "chunk" && SHELL_MODULES.test(chunk.facadeModuleId ?? "");
          if (isShell || (chunk.type === "chunk" && (chunk.isEntry || chunk.name === CHANNEL_CHUNK))) {
            add(chunk.fileName);
          } else if (/\/worker-[^/]+\.js$/.test(chunk.fileName)) {
            names.add(chunk.fileName);
          }
        }
        const shell = JSON.stringify([...SHELL_FILES, ...[...names].sort().map((name) => `/app/${name}`)]);
        const version = createHash("sha256").update(shell).digest("hex").slice(0, 16);
        const source = readFileSync(join(import.meta.dirname, "service-worker.js"), "utf8")
          .replace("SHELL = []", () => `SHELL = ${shell}`)
          .replace('VERSION = ""', `VERSION = "${version}"`);
        this.emitFile({ type: "asset", fileName: "service-worker.js", source });
      },
    },
  };
}

/** Writes a .br and a .gz file beside each file of text, which the server sends as they are. */
function precompressed(): Plugin {
  return {
    name: "precompressed",
    apply: "build",
    writeBundle({ dir }) {
      for (const entry of readdirSync(dir ?? "dist", { recursive: true, withFileTypes: true })) {
        if (entry.isFile() && /\.(?:js|css|html|json|svg|webmanifest)$/.test(entry.name)) {
          const path = join(entry.parentPath, entry.name);
          const data = readFileSync(path);
          const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
          writeFileSync(`${path}.br`, brotliCompressSync(data, { params }));
          writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
        }
      }
    },
  };
}

/** What everything that is built of these sources has in common. */
export const common = {
  plugins: [compiledMessages(), ownLanguages(), announcementsWithoutHtml()],
  resolve: {
    alias: { "@formatjs/icu-messageformat-parser": "@formatjs/icu-messageformat-parser/no-parser.js" },
  },
};

/** The server serves the build at /app/; `npm run dev` passes everything else on to a server on port 3333. */
export default defineConfig({
  base: "/app/",
  plugins: [react(), ...common.plugins, emojiData(), font(), earlyScript(), serviceWorker(), precompressed()],
  resolve: common.resolve,
  build: {
    outDir: process.env["MOOTHALL_CLIENT"] ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
  worker: { format: "es" },
  server: {
    fs: { allow: [".", "../src/moothall/pages"] },
    proxy: {
      "^/(app/fonts|api|icon|apple-touch-icon|avatars|icons|emojis|attachments|stickers|banners|splashes|login|register|invite|settings|developers)":
        { target: SERVER },
      "/gateway": { target: SERVER.replace("http", "ws"), ws: true },
    },
  },
});
