import type { Command, ConnectionStart, Update } from "./protocol";
import { Session } from "./session";

/** The worker's side: decompression and JSON parsing happen here, beside the page. */
const post = (update: Update) => self.postMessage(update);

const session = new Session(JSON.parse(self.name) as ConnectionStart, {
  onDispatch: (name, data) => post({ type: "dispatch", name, data }),
  onStatus: (status) => post({ type: "status", status }),
});
session.connect();

self.onmessage = (event: MessageEvent<Command>) => {
  const command = event.data;
  switch (command.type) {
    case "disconnect":
      session.close();
      break;
    case "retry":
      session.connect();
      break;
    case "offline":
      session.waitForNetwork();
      break;
    case "subscribe":
      session.subscribe(command.data);
      break;
    case "presence":
      session.updatePresence(command.data);
      break;
    case "voice":
      session.updateVoiceState(command.data);
      break;
    case "sounds":
      session.requestSounds(command.data);
      break;
    case "channelInfo":
      session.requestChannelInfo(command.data);
      break;
  }
};
