import type { VoiceCall } from "./call";
import type { Speakers } from "./speakers";
import { getVoiceStatus, setVoiceStatus } from "./status";

const LEVELS_MS = 100;
const QUALITY_MS = 2_000;
/** Below it, sound counts as silence. In dB. */
const AUDIBLE_DB = -55;

/** Shows who speaks, and how good the connection is. */
export class CallDisplay {
  private readonly levels = setInterval(() => this.showSpeaking(), LEVELS_MS);
  private readonly quality = setInterval(() => void this.showQuality(), QUALITY_MS);

  /** `callOf` returns the present call, `speakerOf` the user's own id while they speak. */
  constructor(
    private readonly callOf: () => VoiceCall | null,
    private readonly speakerOf: () => string | null,
    private readonly speakers: Speakers,
  ) {}

  async showQuality(): Promise<void> {
    const call = this.callOf();
    const quality = (await call?.quality()) ?? null;
    if (call !== null && this.callOf() === call && quality !== null) {
      setVoiceStatus({ quality });
    }
  }

  close(): void {
    clearInterval(this.levels);
    clearInterval(this.quality);
  }

  private showSpeaking(): void {
    const call = this.callOf();
    const own = call === null ? null : this.speakerOf();
    const speaking = new Set(own === null ? [] : [own]);
    for (const [userId, level] of this.speakers.levels()) {
      if (level > AUDIBLE_DB) {
        speaking.add(userId);
      }
    }
    const before = getVoiceStatus().speaking;
    if (before.size !== speaking.size || [...speaking].some((each) => !before.has(each))) {
      setVoiceStatus({ speaking });
    }
  }
}
