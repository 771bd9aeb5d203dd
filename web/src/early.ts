import { readAccounts } from "./features/session/accounts";
import { connectEarly } from "./features/session/connecting";

/*
 * Runs before all else, in a small file of its own: the gateway answers while the browser reads the rest of the client.
 */
const [account] = readAccounts();
// Other pages may turn out to need no connection.
if (account !== undefined && /^\/(?:channels|app\/?$)/.test(location.pathname)) {
  connectEarly(account);
}
