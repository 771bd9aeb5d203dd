import { DiscordSDK, Events } from "@discord/embedded-app-sdk";

interface Line {
  from: [number, number];
  to: [number, number];
  color: string;
}

const COLORS = ["#7a3e12", "#1d6b3a", "#22577a", "#a3231d", "#5b3a8c"];

const status = element("status");
const board = element("board") as HTMLCanvasElement;
const context = board.getContext("2d");

function element(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`the page has no ${id}`);
  }
  return element;
}

function draw({ from, to, color }: Line): void {
  if (context === null) {
    return;
  }
  context.strokeStyle = color;
  context.lineWidth = 6;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** Send what is drawn here to the others of this instance, and draw what they send. */
function share(instanceId: string, color: string): void {
  const socket = new WebSocket(`wss://${location.host}/api/board?instance=${instanceId}`.replace(/^wss/, scheme()));
  socket.onmessage = ({ data }) => {
    draw(JSON.parse(String(data)) as Line);
    board.dataset["inked"] = "true";
  };
  socket.onopen = () => (board.dataset["shared"] = "true");
  let last: [number, number] | null = null;
  const point = (event: PointerEvent): [number, number] => {
    const box = board.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * board.width,
      ((event.clientY - box.top) / box.height) * board.height,
    ];
  };
  board.onpointerdown = (event) => (last = point(event));
  board.onpointerup = () => (last = null);
  board.onpointermove = (event) => {
    if (last !== null) {
      const line = { from: last, to: point(event), color };
      last = line.to;
      draw(line);
      socket.send(JSON.stringify(line));
    }
  };
}

function scheme(): string {
  return location.protocol === "https:" ? "wss" : "ws";
}

async function start(): Promise<void> {
  const { client_id: clientId } = (await (await fetch("/api/config")).json()) as { client_id: string };
  const sdk = new DiscordSDK(clientId);
  await sdk.ready();

  const { code } = await sdk.commands.authorize({
    client_id: clientId,
    response_type: "code",
    state: "",
    prompt: "none",
    scope: ["identify", "guilds", "applications.commands"],
  });
  const response = await fetch("/.proxy/api/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const { access_token, api } = (await response.json()) as { access_token: string; api: string };
  const { user } = await sdk.commands.authenticate({ access_token });
  const guilds = (await (
    await fetch(`${api}/users/@me/guilds`, { headers: { authorization: `Bearer ${access_token}` } })
  ).json()) as { id: string; name: string }[];
  const guild = guilds.find(({ id }) => id === sdk.guildId);
  status.textContent = `${user.global_name ?? user.username} in ${guild?.name ?? "a direct message"}`;

  const showParticipants = ({ participants }: { participants: { username: string }[] }) =>
    element("participants").replaceChildren(
      ...participants.map(({ username }) => {
        const item = document.createElement("li");
        item.textContent = username;
        return item;
      }),
    );
  await sdk.subscribe(Events.ACTIVITY_INSTANCE_PARTICIPANTS_UPDATE, showParticipants);
  showParticipants(await sdk.commands.getInstanceConnectedParticipants());
  share(sdk.instanceId, COLORS[Number(BigInt(user.id) % BigInt(COLORS.length))] ?? "#000000");
}

start().catch((error: unknown) => {
  const { message } = error as { message?: string };
  status.textContent = `It does not work: ${message ?? String(error)}`;
});
