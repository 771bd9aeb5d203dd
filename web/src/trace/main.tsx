import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { IntlProvider } from "react-intl";

import { applyPreferences } from "../features/preferences/preferences";
import { loadMessages } from "../i18n/messages";
import { readRecording } from "./recording";
import { TracePage } from "./TracePage";
import "../../../src/moothall/pages/tokens.css";
import "../ui/base.css";
import "../ui/controls.css";
import "../features/shell/shell.css";
import "./trace.css";

/** As the transcript, which the test server writes. */
const LOCALE = "en";

/** Links of messages lead nowhere: the server has ended. */
async function start(): Promise<void> {
  const data = document.getElementById("trace");
  const root = document.getElementById("root");
  if (data === null || root === null) {
    throw new Error("the page has no recording");
  }
  const recording = readRecording(data.textContent, location.href);
  const messages = await loadMessages(LOCALE);
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <TracePage recording={recording} /> }),
    history: createMemoryHistory(),
    defaultNotFoundComponent: () => <TracePage recording={recording} />,
  });
  createRoot(root).render(
    <StrictMode>
      <IntlProvider locale={LOCALE} messages={messages}>
        <I18nProvider locale={LOCALE}>
          <RouterProvider router={router} />
        </I18nProvider>
      </IntlProvider>
    </StrictMode>,
  );
}

applyPreferences();
void start();
