import type { Command, Update } from "./protocol";
import { Session } from "./session";

/** The worker's side: decompression and JSON parsing happen here, beside the page. */
let session: Session | null = null;

const post = (update: Update) => self.postMessage(update);

self.onmessage = (event: MessageEvent<Command>) => {
  const command = event.data;
  switch (command.type) {
    case "connect":
      session?.close();
      session = new Session(command.url, command.token, {
        onDispatch: (name, data) => post({ type: "dispatch", name, data }),
        onStatus: (status) => post({ type: "status", status }),
      });
      session.connect();
      break;
    case "disconnect":
      session?.close();
      session = null;
      break;
    case "retry":
      session?.connect();
      break;
    case "subscribe":
      session?.subscribe(command.data);
      break;
    case "presence":
      session?.updatePresence(command.data);
      break;
    case "voice":
      session?.updateVoiceState(command.data);
      break;
    case "sounds":
      session?.requestSounds(command.data);
      break;
    case "channelInfo":
      session?.requestChannelInfo(command.data);
      break;
  }
};
