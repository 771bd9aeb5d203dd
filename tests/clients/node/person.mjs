// What the laws of eris and discordeno share: a person over HTTP, and interactions that they create.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

export const { MOOTHALL_URL, BOT_TOKEN, PERSON_TOKEN, PERSON_ID, GUILD_ID, CHANNEL_ID } = process.env;

/** A request of the person's. */
export async function person(method, path, body) {
  const answer = await fetch(`${MOOTHALL_URL}/api/v10${path}`, {
    method,
    headers: { authorization: PERSON_TOKEN, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.status === 204 ? undefined : answer.json();
}

/** Use a slash command of the only application of the guild. */
export async function useCommand(name, values = {}) {
  const { application_commands: commands } = await person("GET", `/guilds/${GUILD_ID}/application-command-index`);
  const command = commands.find((each) => each.name === name);
  const types = Object.fromEntries((command.options ?? []).map((option) => [option.name, option.type]));
  const options = Object.entries(values).map(([key, value]) => ({ name: key, type: types[key], value }));
  await person("POST", "/interactions", {
    type: 2,
    application_id: command.application_id,
    guild_id: GUILD_ID,
    channel_id: CHANNEL_ID,
    data: { id: command.id, name, type: 1, options },
  });
}

/** Use a component of a message, as the person's client does. */
export async function useComponent(message, data) {
  await person("POST", "/interactions", {
    type: 3,
    application_id: message.application_id ?? message.author.id,
    guild_id: GUILD_ID,
    channel_id: CHANNEL_ID,
    message_id: message.id,
    data,
  });
}

/** The newest message with a content, once there is one. */
export async function messageOf(content) {
  for (let tries = 0; tries < 200; tries += 1) {
    const messages = await person("GET", `/channels/${CHANNEL_ID}/messages`);
    const message = messages.find((each) => each.content === content);
    if (message !== undefined) return message;
    await sleep(100);
  }
  throw new Error(`no message says ${content}`);
}
