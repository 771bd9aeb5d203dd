import { useParams } from "@tanstack/react-router";

/** The parameters of the path that is open. */
export interface Path {
  /** `@me` for direct messages. */
  guildId?: string;
  channelId?: string;
}

export function usePath(): Path {
  const params: unknown = useParams({ strict: false });
  return params as Path;
}
