import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

import { stateReads } from "./lint/stateReads.js";

/** The floors of src/ from the lowest to the highest: each imports only from those before it. */
const FLOORS = ["i18n", "markdown", "ui", "api", "gateway", "store", "voice", "features", "trace"];

/** No file of a floor imports from a higher one, or from the composition root. */
const onlyDownward = FLOORS.map((floor, index) => ({
  files: [`src/${floor}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          ...FLOORS.slice(index + 1).map((higher) => ({
            group: [`../${higher}/*`, `../../${higher}/*`, `../../../${higher}/*`],
            message: `${floor}/ stands below ${higher}/`,
          })),
          { regex: "^(?:\\.\\./)+(?:main|routes)$", message: "this is the composition root" },
        ],
      },
    ],
  },
}));

const REACT_LAZY = {
  selector: "ImportDeclaration[source.value='react'] ImportSpecifier[imported.name=/^(lazy|Suspense)$/]",
  message: "React would hold it back for 300 ms: use loaded() of ui/loaded",
};

export default tseslint.config(
  { ignores: ["dist", "lint", "public", "service-worker.js", "*.config.*"] },
  ...tseslint.configs.strictTypeChecked,
  hooks.configs.flat["recommended-latest"],
  a11y.flatConfigs.strict,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "jsx-a11y/no-autofocus": "off",
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true, varsIgnorePattern: "^_" }],
      "no-restricted-syntax": ["error", REACT_LAZY],
      // Servers of this API send both.
      "@typescript-eslint/no-deprecated": "off",
    },
  },
  {
    files: ["src/**"],
    ignores: ["**/*.test.*"],
    plugins: { own: { rules: { "state-reads": stateReads } } },
    rules: {
      "own/state-reads": "error",
      "no-restricted-syntax": [
        "error",
        REACT_LAZY,
        {
          selector: "TSAsExpression > TSNeverKeyword",
          message: "it would fit everything: give it the type that it has",
        },
      ],
    },
  },
  ...onlyDownward,
);
