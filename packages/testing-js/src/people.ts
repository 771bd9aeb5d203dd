/** People who say, click, choose and use commands, and the reactions that a test can wait for. */

import { randomBytes } from "node:crypto";
import { Follower, NoReaction, send, type Entry, type GuildInfo, type PersonInfo, type ServerInfo, type TestServer } from "./server.js";

const WITHIN = 5;
const LOADING = 1 << 7;
const BUTTON = 2;
const SELECTS = new Set([3, 5, 6, 7, 8]);
const ID_OPTIONS = new Set([6, 7, 8, 9]);

/** An object of the API. */
export type ApiObject = Record<string, any>;
/** A person, a bot, a message and so on, or its id. */
export type Identified = string | { id: string };

/** The server of a test, and what is known of it now. */
export interface World {
  server: TestServer;
  info: ServerInfo;
}

export interface Waiting {
  /** Seconds; five by default. */
  within?: number;
}

export interface ReplyOptions extends Waiting {
  /** The bot that answers; any bot by default. */
  from?: Identified;
  /** Other messages are passed over. */
  content?: string;
}

/** The use of a command, a component or a modal. */
export interface Invocation {
  interactionId: string;
  name: string;
  messageId?: string;
}

/** A modal that is shown to a person. */
export interface ModalForm {
  data: ApiObject;
  title: string;
  customId: string;
  /** The custom ids of its fields. */
  fields: string[];
}

export function idOf(thing: Identified): string {
  return typeof thing === "string" ? thing : thing.id;
}

function* componentsOf(value: any): Generator<ApiObject> {
  if (Array.isArray(value)) {
    for (const each of value) yield* componentsOf(each);
  } else if (value !== null && typeof value === "object") {
    if ("type" in value) yield value;
    for (const key of ["components", "component", "accessory"]) yield* componentsOf(value[key]);
  }
}

/** The labels of a message's buttons. */
export function buttonsOf(message: ApiObject): string[] {
  return [...componentsOf(message["components"])].filter((each) => each["type"] === BUTTON).map((each) => each["label"] ?? each["custom_id"]);
}

function isEvent(entry: Entry, name: string): boolean {
  return entry.kind === "event" && entry.name === name;
}

function hasFailed(entry: Entry, invocation: Invocation | undefined): boolean {
  return invocation !== undefined && isEvent(entry, "INTERACTION_FAILURE") && entry.data.id === invocation.interactionId;
}

/** An action of a person, done when it is awaited; each `awaits...` does it and waits for what follows. */
export class Act<T> implements PromiseLike<T> {
  constructor(
    private readonly person: Person,
    private readonly work: (follower: Follower) => Promise<T>,
  ) {}

  then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.do().then(({ result }) => result).then(done, failed);
  }

  private async do(): Promise<{ follower: Follower; result: T }> {
    const follower = await Follower.start(this.person.world.server);
    return { follower, result: await this.work(follower) };
  }

  private async after(accepts: (entry: Entry, invocation?: Invocation) => boolean, what: string, options: Waiting) {
    const { follower, result } = await this.do();
    const invocation = isInvocation(result) ? result : undefined;
    const within = options.within ?? WITHIN;
    const entry = await follower.until((each) => hasFailed(each, invocation) || accepts(each, invocation), within, what);
    if (hasFailed(entry, invocation)) {
      throw new NoReaction(`${invocation?.name} was not answered in time, or its answer was invalid`);
    }
    return { entry, follower, within };
  }

  /** Waits for the bot's answer: of a message, the next one in its channel; of a command, what answers it. */
  async awaitsReply(options: ReplyOptions = {}): Promise<ApiObject> {
    const fits = (entry: Entry) => options.content === undefined || entry.data.content === options.content;
    const what = options.content === undefined ? "answer" : `answer "${options.content}"`;
    const { entry, follower, within } = await this.after(
      (each, invocation) =>
        (invocation === undefined ? this.person.isMessageHere(each, options.from) : answers(each, invocation)) && fits(each),
      what,
      options,
    );
    if ((entry.data.flags & LOADING) === 0) return entry.data;
    const edited = await follower.until(
      (each) => isEvent(each, "MESSAGE_UPDATE") && each.data.id === entry.data.id && (each.data.flags & LOADING) === 0 && fits(each),
      within,
      `${what} after deferring`,
    );
    return edited.data;
  }

  /** Waits until a message is edited. */
  async awaitsEdit(message: Identified, options: Waiting = {}): Promise<ApiObject> {
    const id = idOf(message);
    const { entry } = await this.after((each) => isEvent(each, "MESSAGE_UPDATE") && each.data.id === id, `edit of ${id}`, options);
    return entry.data;
  }

  /** Waits until another user reacts in the channel; returns the emoji's name. */
  async awaitsReaction(emoji?: string, options: Waiting = {}): Promise<string> {
    const { entry } = await this.after(
      (each) =>
        isEvent(each, "MESSAGE_REACTION_ADD") &&
        each.data.channel_id === this.person.channelId &&
        each.data.user_id !== this.person.id &&
        (emoji === undefined || each.data.emoji.name === emoji),
      `reaction ${emoji ?? ""}`,
      options,
    );
    return entry.data.emoji.name;
  }

  /** Waits until a modal is shown to the person. */
  async awaitsModal(options: Waiting = {}): Promise<ModalForm> {
    const { entry } = await this.after(
      (each) => isEvent(each, "INTERACTION_MODAL_CREATE") && (each.user_ids ?? []).includes(this.person.id),
      "modal",
      options,
    );
    const fields = [...componentsOf(entry.data.components)].map((each) => each["custom_id"]).filter(Boolean);
    return { data: entry.data, title: entry.data.title, customId: entry.data.custom_id, fields };
  }

  /** Waits for an event of the platform, such as GUILD_MEMBER_UPDATE. */
  async awaitsEvent(name: string, where: (data: any) => boolean = () => true, options: Waiting = {}): Promise<any> {
    const { entry } = await this.after((each) => isEvent(each, name) && where(each.data), name, options);
    return entry.data;
  }
}

function isInvocation(value: unknown): value is Invocation {
  return typeof value === "object" && value !== null && "interactionId" in value;
}

function answers(entry: Entry, invocation: Invocation): boolean {
  if (!isEvent(entry, "MESSAGE_CREATE") && !isEvent(entry, "MESSAGE_UPDATE")) return false;
  return entry.data.interaction_metadata?.id === invocation.interactionId || entry.data.id === invocation.messageId;
}

/** A person in a channel. */
export class Person {
  readonly id: string;
  readonly name: string;
  readonly token: string;

  constructor(
    readonly world: World,
    private readonly data: PersonInfo,
    readonly channelId: string,
    readonly guild: GuildInfo | undefined,
  ) {
    this.id = data.id;
    this.name = data.name;
    this.token = data.token;
  }

  /** The text that mentions the person. */
  get mention(): string {
    return `<@${this.id}>`;
  }

  /** The same person in another channel, by its name or id. */
  inChannel(channel: Identified): Person {
    const name = idOf(channel);
    const id = this.guild?.channels[name] ?? name;
    if (!/^\d+$/.test(id)) throw new Error(`there is no channel ${name}`);
    return new Person(this.world, this.data, id, this.guild);
  }

  /** Sends any request of the API. Throws RefusedError. */
  request(method: string, path: string, body?: unknown, files?: Record<string, Uint8Array>): Promise<any> {
    return send(method, `${this.world.info.api_url}${path}`, body, this.token, files);
  }

  isMessageHere(entry: Entry, from?: Identified): boolean {
    if (!isEvent(entry, "MESSAGE_CREATE") || entry.data.channel_id !== this.channelId) return false;
    return from === undefined ? entry.data.author.bot === true : entry.data.author.id === idOf(from);
  }

  /** Sends a message. */
  says(content: string, fields: ApiObject = {}): Act<ApiObject> {
    return this.act(() => this.request("POST", this.messagesPath, { content, ...fields }));
  }

  /** Sends a file. */
  uploads(name: string, content: Uint8Array, text = ""): Act<ApiObject> {
    const body = { content: text, attachments: [{ id: 0, filename: name }] };
    return this.act(() => this.request("POST", this.messagesPath, body, { [name]: content }));
  }

  /** Replies to a message. */
  replies(message: Identified, content: string): Act<ApiObject> {
    return this.says(content, { message_reference: { message_id: idOf(message) } });
  }

  /** Edits a message of one's own. */
  edits(message: Identified, content: string): Act<ApiObject> {
    return this.act(() => this.request("PATCH", `${this.messagesPath}/${idOf(message)}`, { content }));
  }

  /** Deletes a message. */
  deletes(message: Identified): Act<null> {
    return this.act(() => this.request("DELETE", `${this.messagesPath}/${idOf(message)}`));
  }

  /** Reacts to a message; a custom emoji is `name:id`. */
  reacts(message: Identified, emoji: string): Act<null> {
    const path = `${this.messagesPath}/${idOf(message)}/reactions/${encodeURIComponent(emoji)}/@me`;
    return this.act(() => this.request("PUT", path));
  }

  /** The latest messages of the channel, oldest first. */
  async messages(): Promise<ApiObject[]> {
    return ((await this.request("GET", this.messagesPath)) as ApiObject[]).reverse();
  }

  /** Uses a slash command; a subcommand is written as users see it, such as "role add". */
  runs(command: string, options: Record<string, unknown> = {}): Act<Invocation> {
    return this.act(async (follower) => {
      const { declared, path } = await this.command(command, 1);
      const data = commandData(declared, path, optionsOf(declared, path, options));
      return this.invoke(follower, 2, declared["application_id"], data, `/${command}`);
    });
  }

  /** Uses a command of a user's menu. */
  runsOnUser(command: string, user: Identified): Act<Invocation> {
    return this.runsOn(command, 2, user);
  }

  /** Uses a command of a message's menu. */
  runsOnMessage(command: string, message: Identified): Act<Invocation> {
    return this.runsOn(command, 3, message);
  }

  /** Types into an option of a slash command; returns the values of the choices that the bot offers. */
  async autocompletes(command: string, focused: string, options: Record<string, unknown>): Promise<unknown[]> {
    const follower = await Follower.start(this.world.server);
    const { declared, path } = await this.command(command, 1);
    const nonce = newNonce();
    const data = commandData(declared, path, optionsOf(declared, path, options, focused));
    await this.interact(4, declared["application_id"], data, nonce);
    const name = "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE";
    const entry = await follower.until((each) => isEvent(each, name) && each.data.nonce === nonce, WITHIN, "choices");
    return entry.data.choices.map((choice: ApiObject) => choice["value"]);
  }

  /** Clicks the button with a label or custom id. */
  clicks(message: ApiObject, button: string): Act<Invocation> {
    return this.act((follower) => {
      const matches = (each: ApiObject) => each["type"] === BUTTON && [each["label"], each["custom_id"]].includes(button);
      const component = [...componentsOf(message["components"])].find(matches);
      if (component === undefined) throw new Error(`there is no button ${button}, but ${buttonsOf(message).join(", ")}`);
      return this.useComponent(follower, message, component);
    });
  }

  /** Chooses in a select menu: labels or values of options, or what has an id. */
  chooses(message: ApiObject, values: Identified[], select?: string): Act<Invocation> {
    return this.act((follower) => {
      const component = [...componentsOf(message["components"])].find(
        (each) => SELECTS.has(each["type"]) && (select === undefined || each["custom_id"] === select),
      );
      if (component === undefined) throw new Error(`there is no select ${select ?? ""}`);
      const byLabel = new Map((component["options"] ?? []).map((each: ApiObject) => [each["label"], each["value"]]));
      return this.useComponent(follower, message, component, values.map((each) => byLabel.get(idOf(each)) ?? idOf(each)));
    });
  }

  /** Submits a modal; values are by the custom id of the field. */
  submits(modal: ModalForm, values: Record<string, unknown>): Act<Invocation> {
    return this.act((follower) => {
      const unknown = Object.keys(values).filter((name) => !modal.fields.includes(name));
      if (unknown.length > 0) throw new Error(`the modal has no field ${unknown.join(", ")}, but ${modal.fields.join(", ")}`);
      const data = {
        id: modal.data["id"],
        custom_id: modal.customId,
        components: modal.data["components"].map((each: ApiObject) => submitted(each, values)),
      };
      return this.invoke(follower, 5, modal.data["application"].id, data, `modal ${modal.customId}`);
    });
  }

  /** Joins the first guild by an invite of its owner. */
  joins(): Act<null> {
    return this.act(async () => {
      const guild = this.world.info.guilds[0];
      const owner = guild === undefined ? undefined : this.world.info.people[guild.owner];
      const channel = guild === undefined ? undefined : Object.values(guild.channels)[0];
      if (owner === undefined || channel === undefined) throw new Error("there is no guild to join");
      const invite = await send("POST", `${this.world.info.api_url}/channels/${channel}/invites`, { unique: true }, owner.token);
      await this.request("POST", `/invites/${invite.code}`, {});
      return null;
    });
  }

  private get messagesPath(): string {
    return `/channels/${this.channelId}/messages`;
  }

  private act<T>(work: (follower: Follower) => Promise<T> | T): Act<T> {
    return new Act(this, async (follower) => work(follower));
  }

  private runsOn(name: string, kind: number, target: Identified): Act<Invocation> {
    return this.act(async (follower) => {
      const { declared } = await this.command(name, kind);
      const { options: _, ...data } = commandData(declared, [], []);
      return this.invoke(follower, 2, declared["application_id"], { ...data, target_id: idOf(target) }, name);
    });
  }

  private async command(name: string, kind: number): Promise<{ declared: ApiObject; path: string[] }> {
    const [first = "", ...path] = kind === 1 ? name.replace(/^\//, "").split(" ") : [name];
    const index = await this.request("GET", `/channels/${this.channelId}/application-command-index`);
    const commands = index.application_commands as ApiObject[];
    const declared = commands.find((each) => each["name"] === first && each["type"] === kind);
    if (declared === undefined) {
      throw new Error(`there is no command ${first}, but ${commands.map((each) => each["name"]).join(", ")}`);
    }
    return { declared, path };
  }

  private interact(type: number, applicationId: string, data: ApiObject, nonce: string, more: ApiObject = {}): Promise<null> {
    const guild = this.guild === undefined ? {} : { guild_id: this.guild.id };
    const body = { type, application_id: applicationId, channel_id: this.channelId, nonce, data, ...guild, ...more };
    return this.request("POST", "/interactions", body);
  }

  private async invoke(
    follower: Follower,
    type: number,
    applicationId: string,
    data: ApiObject,
    name: string,
    more: ApiObject = {},
  ): Promise<Invocation> {
    const nonce = newNonce();
    await this.interact(type, applicationId, data, nonce, more);
    const accepts = (each: Entry) => isEvent(each, "INTERACTION_CREATE") && each.data.nonce === nonce;
    const entry = await follower.until(accepts, WITHIN, "interaction");
    return { interactionId: entry.data.id, name };
  }

  private async useComponent(follower: Follower, message: ApiObject, component: ApiObject, values?: unknown[]): Promise<Invocation> {
    const data = { component_type: component["type"], custom_id: component["custom_id"], ...(values && { values }) };
    const applicationId = message["application_id"] ?? message["author"].id;
    const more = { message_id: message["id"], message_flags: message["flags"] ?? 0 };
    const invocation = await this.invoke(follower, 3, applicationId, data, `component ${component["custom_id"]}`, more);
    return { ...invocation, messageId: message["id"] };
  }
}

function newNonce(): string {
  return randomBytes(12).toString("hex");
}

function optionOf(declared: ApiObject[], name: string): ApiObject {
  const option = declared.find((each) => each["name"] === name);
  if (option === undefined) {
    throw new Error(`the command has no option ${name}, but ${declared.map((each) => each["name"]).join(", ")}`);
  }
  return option;
}

function optionsOf(command: ApiObject, path: string[], values: Record<string, unknown>, focused?: string): ApiObject[] {
  let declared: ApiObject[] = command["options"] ?? [];
  for (const name of path) declared = optionOf(declared, name)["options"] ?? [];
  return Object.entries(values).map(([name, value]) => {
    const option = optionOf(declared, name);
    const plain = ID_OPTIONS.has(option["type"]) ? idOf(value as Identified) : value;
    return { name, type: option["type"], value: plain, ...(name === focused && { focused: true }) };
  });
}

function commandData(command: ApiObject, path: string[], options: ApiObject[]): ApiObject {
  const kinds = path.length === 2 ? [2, 1] : path.map(() => 1);
  const nested = path.reduceRight<ApiObject[]>((inner, name, index) => [{ name, type: kinds[index], options: inner }], options);
  return { id: command["id"], name: command["name"], type: command["type"], version: command["version"], options: nested };
}

function submitted(component: ApiObject, values: Record<string, unknown>): ApiObject {
  const answer: ApiObject = { type: component["type"] };
  if (component["components"]) answer["components"] = component["components"].map((each: ApiObject) => submitted(each, values));
  if (component["component"]) answer["component"] = submitted(component["component"], values);
  const customId = component["custom_id"];
  if (customId !== undefined) {
    answer["custom_id"] = customId;
    const value = values[customId] ?? component["value"];
    if ([4, 21, 23].includes(component["type"])) answer["value"] = value ?? (component["type"] === 4 ? "" : null);
    else answer["values"] = value === undefined ? [] : Array.isArray(value) ? value : [value];
  }
  return answer;
}
