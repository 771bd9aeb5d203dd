import type { OwnVideo, VoiceCall } from "./call";
import { openCamera, openScreen, videoProblemOf } from "./capture";
import type { VideoKind } from "./media";
import { getVoiceSettings } from "./settings";
import { setVoiceStatus } from "./status";
import { setVideo } from "./videos";

/** The user's own camera and screen, for as long as they are shown. */
export class OwnVideos {
  private readonly videos: Record<VideoKind, OwnVideo | null> = { camera: null, screen: null };
  private isOpening = false;
  /** Counts the calls: what is opened when one has ended is closed at once. */
  private epoch = 0;

  /** `callOf` returns the present call. */
  constructor(
    private readonly userId: string,
    private readonly callOf: () => VoiceCall | null,
  ) {}

  /** Send them over another call. */
  sendBy(call: VoiceCall): void {
    call.setVideo("camera", this.videos.camera);
    call.setVideo("screen", this.videos.screen);
  }

  /** Begin or end showing one. */
  async toggle(kind: VideoKind): Promise<void> {
    if (this.videos[kind] !== null) {
      this.set(kind, null);
    } else if (!this.isOpening) {
      this.isOpening = true;
      const { epoch } = this;
      try {
        const { cameraId, screen } = getVoiceSettings();
        const video = await (kind === "camera" ? openCamera(cameraId) : openScreen(screen));
        if (epoch === this.epoch) {
          this.set(kind, video);
        } else {
          stop(video);
        }
      } catch (error) {
        const problem = videoProblemOf(error);
        // Who closes the browser's choice of screens has changed their mind.
        setVoiceStatus({
          videoProblem: kind === "screen" && problem === "refused" ? null : { kind, problem },
        });
      } finally {
        this.isOpening = false;
      }
    }
  }

  /** End showing both. */
  close(): void {
    this.epoch += 1;
    this.set("camera", null);
    this.set("screen", null);
  }

  private set(kind: VideoKind, video: OwnVideo | null): void {
    const before = this.videos[kind];
    if (before === null && video === null) {
      return;
    }
    this.videos[kind] = video;
    stop(before);
    // The browser's own button ends it, and so does a camera that is gone.
    video?.track.addEventListener("ended", () => {
      if (this.videos[kind] === video) {
        this.set(kind, null);
      }
    });
    setVideo(this.userId, kind, video?.track ?? null);
    this.callOf()?.setVideo(kind, video);
    setVoiceStatus({ [kind]: video !== null, videoProblem: null });
  }
}

function stop(video: OwnVideo | null): void {
  video?.track.stop();
  video?.sound?.stop();
}
