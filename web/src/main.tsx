import "./early";

import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useCallback, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { IntlProvider } from "react-intl";

import { loginOfPages, shareWithPages } from "./api/accounts";
import { setRefusalLocale } from "./api/refusals";
import { addAccount, mayTakePagesLogin, readAccounts, type Account } from "./features/session/accounts";
import { preloadTimeline } from "./features/channel_view/ChannelView";
import { isChannelPath, loadFirstPage } from "./features/messages/firstPage";
import { openEarly } from "./features/session/opening";
import { lastScreen } from "./features/shell/lastScreen";
import { awaitInstallOffer } from "./features/preferences/install";
import { keepShell } from "./features/shell/offline";
import {
  applyPreferences,
  getPreferences,
  layoutDirection,
  usePreferences,
  type Preferences,
} from "./features/preferences/preferences";
import { directionOf } from "./i18n/direction";
import { loadMessages, type Messages } from "./i18n/messages";
import { noteLoadErrors } from "./ui/loadErrors";
import { AccountContext, router } from "./routes";
import "../../src/moothall/pages/tokens.css";
import "./ui/base.css";
import "./ui/controls.css";

awaitInstallOffer();
setRefusalLocale(() => getPreferences().locale);
const [firstAccount] = readAccounts();
// The root address leads to what was open last.
const firstPath =
  firstAccount !== undefined && /^\/app\/?$/.test(location.pathname)
    ? lastScreen(firstAccount.userId)
    : location.pathname;
// Other pages may turn out to need no connection.
if (firstAccount !== undefined && firstPath.startsWith("/channels")) {
  loadFirstPage(openEarly(firstAccount), firstPath);
}
if (firstAccount !== undefined && isChannelPath(firstPath)) {
  // Read while the gateway answers: what shows messages.
  preloadTimeline();
}
/** Who has logged in or registered at the server's pages is logged in here. */
const pagesLogin = mayTakePagesLogin() ? loginOfPages() : null;
/** A language of that direction of which the library has no texts, so that it has those of English. */
const RIGHT_TO_LEFT = "ur";
/** Loaded before React runs, and once. */
const firstLocale = getPreferences().locale;
const firstMessages = loadMessages(firstLocale);

/** The language of the controls' library, which takes the layout's direction from it. */
function controlsLocale(preferences: Preferences): string {
  const direction = layoutDirection(preferences);
  return direction === directionOf(preferences.locale) ? preferences.locale : RIGHT_TO_LEFT;
}

/** Builds the client: language, account and routes. */
function App() {
  const preferences = usePreferences();
  const { locale } = preferences;
  const [messages, setMessages] = useState<Messages | null>(null);
  const [account, setAccount] = useState<Account | null>(() => readAccounts()[0] ?? null);
  useEffect(() => {
    void (locale === firstLocale ? firstMessages : loadMessages(locale)).then(setMessages);
  }, [locale]);
  const [isAsking, setAsking] = useState(pagesLogin !== null);
  useEffect(() => {
    void pagesLogin?.then((login) => {
      if (login !== null && mayTakePagesLogin()) {
        addAccount({ userId: login.user_id, token: login.token });
      }
      setAccount(readAccounts()[0] ?? null);
      setAsking(false);
    });
  }, []);
  const onLogin = useCallback((added: Account) => {
    addAccount(added);
    setAccount(added);
    void shareWithPages(added.token);
  }, []);
  const onChange = useCallback(() => {
    const [current] = readAccounts();
    setAccount(current ?? null);
    if (current !== undefined) {
      void shareWithPages(current.token);
    }
  }, []);
  const control = useMemo(() => ({ account, onLogin, onChange }), [account, onLogin, onChange]);
  return (
    messages &&
    !isAsking && (
      <IntlProvider locale={locale} messages={messages}>
        <I18nProvider locale={controlsLocale(preferences)}>
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
