import { GatewayConnection } from "../../gateway/connection";
import { getPreferences } from "../preferences/preferences";
import type { Account } from "./accounts";

/** The connection that was opened before the client was loaded, until it is taken. */
let opened: GatewayConnection | null = null;

/** Connect an account to the gateway while the client is loaded. */
export function connectEarly({ token }: Account): void {
  opened = new GatewayConnection(token, getPreferences().status);
}

/** The connection of a login: the one that was opened early, or a new one. */
export function takeConnection({ token }: Account): GatewayConnection {
  const connection = opened;
  opened = null;
  if (connection?.token === token) {
    return connection;
  }
  connection?.close();
  return new GatewayConnection(token, getPreferences().status);
}
