import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useCallback, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { IntlProvider } from "react-intl";

import { addAccount, readAccounts, type Account } from "./features/session/accounts";
import { isChannelPath, loadFirstPage } from "./features/messages/firstPage";
import { openEarly } from "./features/session/session";
import { keepShell, noteLoadErrors } from "./features/shell/offline";
import { applyPreferences, getPreferences, usePreferences } from "./features/settings/preferences";
import { loadMessages, type Messages } from "./i18n/messages";
import { AccountContext, router } from "./routes";
import "../../src/moothall/web/tokens.css";
import "./ui/base.css";
import "./ui/controls.css";

const { pathname } = location;
const [firstAccount] = readAccounts();
// Other pages may turn out to need no connection.
if (firstAccount !== undefined && /^\/(?:channels|app\/?$)/.test(pathname)) {
  loadFirstPage(openEarly(firstAccount), pathname);
}
if (firstAccount !== undefined && isChannelPath(pathname)) {
  // Read while the gateway answers: the largest parts of what shows messages.
  void Promise.allSettled([import("./features/messages/Content"), import("@tanstack/react-virtual")]);
}
/** Loaded before React runs, and once. */
const firstLocale = getPreferences().locale;
const firstMessages = loadMessages(firstLocale);

/** Builds the client: language, account and routes. */
function App() {
  const { locale } = usePreferences();
  const [messages, setMessages] = useState<Messages | null>(null);
  const [account, setAccount] = useState<Account | null>(() => readAccounts()[0] ?? null);
  useEffect(() => {
    document.documentElement.lang = locale;
    void (locale === firstLocale ? firstMessages : loadMessages(locale)).then(setMessages);
  }, [locale]);
  const onLogin = useCallback((added: Account) => {
    addAccount(added);
    setAccount(added);
  }, []);
  const onChange = useCallback(() => {
    setAccount(readAccounts()[0] ?? null);
  }, []);
  const control = useMemo(() => ({ account, onLogin, onChange }), [account, onLogin, onChange]);
  return (
    messages && (
      <IntlProvider locale={locale} messages={messages}>
        <I18nProvider locale={locale}>
          <AccountContext value={control}>
            <RouterProvider router={router} />
          </AccountContext>
        </I18nProvider>
      </IntlProvider>
    )
  );
}

applyPreferences();
keepShell();
noteLoadErrors();
const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
