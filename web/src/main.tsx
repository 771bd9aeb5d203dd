import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useCallback, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { IntlProvider } from "react-intl";

import { addAccount, readAccounts, type Account } from "./features/session/accounts";
import { keepShell, noteLoadErrors } from "./features/shell/offline";
import { applyPreferences, usePreferences } from "./features/settings/preferences";
import { loadMessages, type Messages } from "./i18n/messages";
import { AccountContext, router } from "./routes";
import "../../src/moothall/web/tokens.css";
import "./ui/base.css";
import "./ui/controls.css";

/** Builds the client: language, account and routes. */
function App() {
  const { locale } = usePreferences();
  const [messages, setMessages] = useState<Messages | null>(null);
  const [account, setAccount] = useState<Account | null>(() => readAccounts()[0] ?? null);
  useEffect(() => {
    document.documentElement.lang = locale;
    void loadMessages(locale).then(setMessages);
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
