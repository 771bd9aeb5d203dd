import type { APIChannel } from "discord-api-types/v10";

/** Whether a direct message waits for the user to accept it: a stranger has begun it. */
export function isMessageRequest(channel: APIChannel): boolean {
  return (channel as APIChannel & { is_message_request?: boolean }).is_message_request === true;
}
