import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  Outlet,
  parseSearchWith,
  stringifySearchWith,
  useNavigate,
  useSearch,
  useParams,
} from "@tanstack/react-router";
import { createContext, useContext, useEffect } from "react";

import type { Login } from "./api/accounts";
import type { Account } from "./features/session/accounts";
import { SessionProvider } from "./features/session/opening";
import { Failure } from "./features/shell/Failure";
import { setOverlays } from "./features/overlays/overlays";
import { CustomizeScreen, DirectScreen, GuildScreen, LastScreen } from "./features/shell/screens";
import type { Shared } from "./features/messages/sharedText";
import { Shell } from "./features/shell/Shell";
import { UserCardContext, type UserCardProps } from "./features/users/UserCardContext";
import { UserMenuContext, type UserMenuProps } from "./features/users/UserMenuContext";
import { Translate } from "./i18n/translate";
import { loaded } from "./ui/loaded";

const LoginPage = loaded(async () => ({ default: (await import("./features/auth/AuthPages")).LoginPage }));
const RegisterPage = loaded(async () => ({
  default: (await import("./features/auth/AuthPages")).RegisterPage,
}));
const InvitePage = loaded(async () => ({
  default: (await import("./features/invites/InvitePage")).InvitePage,
}));
const GuildSettings = loaded(async () => ({
  default: (await import("./features/guild_settings/GuildSettings")).GuildSettings,
}));

const ChannelSettings = loaded(() => import("./features/guild_settings/channels/ChannelSettings"));
const UserCard = loaded(async () => ({ default: (await import("./features/members/UserCard")).UserCard }));
const TemplatePage = loaded(() => import("./features/guilds/TemplatePage"));
const LaunchPage = loaded(() => import("./features/activities/LaunchPage"));
const Settings = loaded(() => import("./features/settings/Frame"));
const UserMenu = loaded(() => import("./features/members/UserMenu"));
const Admin = loaded(() => import("./features/admin/Frame"));
const Wizard = loaded(() => import("./features/setup/Wizard"));
const ClaimPage = loaded(() => import("./features/setup/ClaimPage"));
const SharePage = loaded(() => import("./features/messages/SharePage"));
const NotFound = loaded(() => import("./features/shell/NotFound"));

const Discover = loaded(() => import("./features/discovery/Discover"));
const Palette = loaded(() => import("./features/palette/Palette"));

const drawPalette = (onlyCommands: boolean, onClose: () => void) => (
  <Palette onlyCommands={onlyCommands} onClose={onClose} />
);
const drawUserMenu = (props: UserMenuProps) => <UserMenu {...props} />;
const drawUserCard = (props: UserCardProps) => (
  <UserCard
    {...props}
    fallback={
      <p className="apps-empty">
        <Translate id="app.loading" />
      </p>
    }
  />
);

/** The account in use, and how it changes. */
export interface AccountControl {
  account: Account | null;
  onLogin: (account: Account) => void;
  /** Called when another account is used, or the account has another token. */
  onChange: () => void;
}

export const AccountContext = createContext<AccountControl | null>(null);

function useAccount(): AccountControl {
  const control = useContext(AccountContext);
  if (control === null) {
    throw new Error("useAccount outside of an AccountContext");
  }
  return control;
}

/** Where to go after logging in: a path of this client. */
interface LoginSearch {
  next?: string;
}

/** Pages that those who are not logged in see as well. */
const OPEN_PATHS = /^\/(?:(?:app\/)?(?:invite|template)\/|app\/discover(?:\/|$))/;

const validateSearch = (search: Record<string, unknown>): LoginSearch =>
  typeof search["next"] === "string" &&
  /^\/(?:(?:app|channels|events|invite|template)\/|(?:admin|setup)(?:\/|$))/.test(search["next"])
    ? { next: search["next"] }
    : {};

/** The thread that is open beside a channel. */
interface ChannelSearch {
  thread?: string;
}

const validateChannelSearch = (search: Record<string, unknown>): ChannelSearch => {
  const thread = String(search["thread"]);
  return /^\d{1,20}$/.test(thread) ? { thread } : {};
};

/** What a link to an Activity says. */
interface ActivitySearch {
  referrer_id?: string;
  custom_id?: string;
  link_id?: string;
}

const validateActivitySearch = (search: Record<string, unknown>): ActivitySearch =>
  Object.fromEntries(
    (["referrer_id", "custom_id", "link_id"] as const).flatMap((name) => {
      const value = search[name];
      return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
    }),
  );

const root = createRootRoute({ component: Outlet });

const signedIn = createRoute({ getParentRoute: () => root, id: "signed-in", component: SignedIn });

function SignedIn() {
  const { account, onChange } = useAccount();
  // Not by a hook of the router: the redirect below must not follow the change that it makes itself.
  const { pathname } = location;
  if (account === null && OPEN_PATHS.test(pathname)) {
    return <Outlet />;
  }
  if (account === null) {
    return <Navigate to="/app/login" search={{ next: pathname }} replace />;
  }
  return (
    <SessionProvider key={account.userId} account={account} onChange={onChange}>
      <UserCardContext value={drawUserCard}>
        <UserMenuContext value={drawUserMenu}>
          <Shell drawPalette={drawPalette} />
        </UserMenuContext>
      </UserCardContext>
    </SessionProvider>
  );
}

const loginRoute = createRoute({
  getParentRoute: () => root,
  path: "/app/login",
  validateSearch,
  component: function LoginScreen() {
    return <LoginPage onLogin={useLogin(loginRoute.useSearch())} />;
  },
});

const registerRoute = createRoute({
  getParentRoute: () => root,
  path: "/app/register",
  validateSearch,
  component: function RegisterScreen() {
    return <RegisterPage onLogin={useLogin(registerRoute.useSearch())} />;
  },
});

interface SetupSearch {
  token?: string;
}

/** The link of the first operator; without its token, the steps that follow. */
const setupRoute = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  validateSearch: ({ token }: Record<string, unknown>): SetupSearch =>
    typeof token === "string" || typeof token === "number" ? { token: String(token) } : {},
  component: function SetupScreen() {
    const { token }: SetupSearch = setupRoute.useSearch();
    const { onLogin } = useAccount();
    const navigate = useNavigate();
    if (token === undefined) {
      return <Navigate to="/setup/$stepId" params={{ stepId: "start" }} replace />;
    }
    return (
      <ClaimPage
        token={token}
        onLogin={(login) => {
          onLogin({ userId: login.user_id, token: login.token });
          void navigate({ to: "/setup/$stepId", params: { stepId: "factor" }, replace: true });
        }}
      />
    );
  },
});

function useLogin(search: LoginSearch): (login: Login) => void {
  const { onLogin } = useAccount();
  const navigate = useNavigate();
  return (login) => {
    onLogin({ userId: login.user_id, token: login.token });
    void navigate({ to: search.next ?? "/app" });
  };
}

/**
 * The screens of channels, one component for all of them: what is open beside a channel stays when a link leads to
 * another channel or to a message.
 */
const screens = createRoute({
  getParentRoute: () => signedIn,
  id: "screens",
  component: function ChannelScreens() {
    const { guildId, channelId, messageId } = useRouteParams();
    // The paths of direct messages have no parameter for a guild, but for links to messages.
    const isDirect = !guildId || guildId === "@me";
    const { thread }: ChannelSearch = validateChannelSearch(useSearch({ strict: false }));
    return isDirect ? (
      <DirectScreen channelId={channelId ?? null} messageId={messageId ?? null} />
    ) : (
      <GuildScreen
        guildId={guildId}
        channelId={channelId ?? null}
        messageId={messageId ?? null}
        threadId={thread ?? null}
      />
    );
  },
});

const channelRoute = createRoute({
  getParentRoute: () => screens,
  path: "/channels/$guildId/$channelId",
  validateSearch: validateChannelSearch,
});

/** What another app of the device shares (`share_target` of the manifest). */
const shareRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/app/share",
  validateSearch: (search: Record<string, unknown>): Partial<Shared> =>
    Object.fromEntries(
      (["title", "text", "url"] as const).flatMap((name) => {
        const value = search[name];
        return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
      }),
    ),
  component: function ShareScreen() {
    const { title = "", text = "", url = "" }: Partial<Shared> = shareRoute.useSearch();
    return <SharePage shared={{ title, text, url }} />;
  },
});

const activityRoute = createRoute({
  getParentRoute: () => signedIn,
  path: "/activities/$applicationId",
  validateSearch: validateActivitySearch,
  component: function ActivityScreen() {
    const { applicationId } = useRouteParams();
    const search: ActivitySearch = activityRoute.useSearch();
    return (
      <LaunchPage
        applicationId={applicationId}
        referrerId={search.referrer_id ?? ""}
        customId={search.custom_id ?? ""}
        linkId={search.link_id ?? ""}
      />
    );
  },
});

const routes = root.addChildren([
  loginRoute,
  registerRoute,
  setupRoute,
  signedIn.addChildren([
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app",
      component: LastScreen,
    }),
    // The server sends browsers the client at the links that people share, too.
    createRoute({ getParentRoute: () => signedIn, path: "/app/invite/$code", component: InviteScreen }),
    createRoute({ getParentRoute: () => signedIn, path: "/invite/$code", component: InviteScreen }),
    createRoute({ getParentRoute: () => signedIn, path: "/app/template/$code", component: TemplateScreen }),
    createRoute({ getParentRoute: () => signedIn, path: "/template/$code", component: TemplateScreen }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app/activities/$applicationId/{-$referrerId}/{-$customId}",
      component: function LaunchScreen() {
        const { applicationId, referrerId = "", customId = "" } = useRouteParams();
        return <LaunchPage {...{ applicationId, referrerId, customId }} linkId="" />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app/discover/{-$guildId}",
      component: function DiscoverScreen() {
        const { guildId } = useRouteParams();
        return <Discover guildId={guildId || null} />;
      },
    }),
    activityRoute,
    shareRoute,
    createRoute({
      getParentRoute: () => signedIn,
      path: "/events/$guildId/$eventId",
      component: EventScreen,
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/channels/$guildId/customize",
      component: function CustomizeRoute() {
        return <CustomizeScreen guildId={useRouteParams().guildId} />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app/settings/{-$sectionId}",
      component: function SettingsScreen() {
        return <Settings sectionId={useRouteParams().sectionId ?? null} />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/admin/{-$sectionId}",
      component: function AdminScreen() {
        return <Admin sectionId={useRouteParams().sectionId ?? null} />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/setup/$stepId",
      component: function SetupStepScreen() {
        return <Wizard stepId={useRouteParams().stepId ?? ""} />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app/guilds/$guildId/settings/{-$sectionId}/{-$itemId}",
      component: function GuildSettingsScreen() {
        const { guildId, sectionId, itemId } = useRouteParams();
        return <GuildSettings guildId={guildId} sectionId={sectionId ?? null} itemId={itemId ?? null} />;
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/app/guilds/$guildId/channels/$channelId/{-$sectionId}",
      component: function ChannelSettingsScreen() {
        const { guildId, channelId, sectionId } = useRouteParams();
        return (
          <ChannelSettings guildId={guildId} channelId={channelId ?? ""} sectionId={sectionId ?? null} />
        );
      },
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/channels/@me/friends",
      component: () => <DirectScreen channelId={null} messageId={null} showsFriends />,
    }),
    createRoute({
      getParentRoute: () => signedIn,
      path: "/channels/@me/requests",
      component: () => <DirectScreen channelId={null} messageId={null} showsRequests />,
    }),
    screens.addChildren([
      createRoute({ getParentRoute: () => screens, path: "/channels/@me" }),
      createRoute({ getParentRoute: () => screens, path: "/channels/@me/$channelId" }),
      createRoute({ getParentRoute: () => screens, path: "/channels/$guildId" }),
      channelRoute,
      createRoute({ getParentRoute: () => screens, path: "/channels/$guildId/$channelId/$messageId" }),
    ]),
  ]),
]);

function InviteScreen() {
  const { thread }: ChannelSearch = validateChannelSearch(useSearch({ strict: false }));
  return <InvitePage code={useRouteParams().code} threadId={thread ?? null} />;
}

function TemplateScreen() {
  return <TemplatePage code={useRouteParams().code} />;
}

/** Opens an event over its guild. */
function EventScreen() {
  const { guildId, eventId } = useRouteParams();
  useEffect(() => setOverlays({ events: { guildId, eventId } }), [guildId, eventId]);
  return <Navigate to="/channels/$guildId" params={{ guildId }} replace />;
}

interface RouteParams {
  code: string;
  guildId: string;
  channelId?: string;
  messageId?: string;
  eventId: string;
  sectionId?: string;
  stepId?: string;
  itemId?: string;
  applicationId: string;
  referrerId?: string;
  customId?: string;
}

/** The parameters of the route's own path. */
function useRouteParams(): RouteParams {
  return useParams({ strict: false });
}

/** Reads a value in the query of an address. An id stays a text: as a number it would lose its last digits. */
function parseValue(text: string): unknown {
  if (/^\d{16,}$/.test(text)) {
    throw new SyntaxError("an id is no JSON");
  }
  return JSON.parse(text);
}

export const router = createRouter({
  routeTree: routes,
  defaultPreload: false,
  defaultNotFoundComponent: () => <NotFound />,
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
  parseSearch: parseSearchWith(parseValue),
  stringifySearch: stringifySearchWith(JSON.stringify, parseValue),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
