import type { Store } from "../store/store";
import { voiceStatesIn } from "../store/voice";
import type { Place } from "./place";

export type MemberChange = "joined" | "left";

/** Follows who else is in the user's channel. */
export class MemberFollower {
  private members: ReadonlySet<string> = new Set();
  /** The voice states that say so. */
  private seen: unknown = null;

  constructor(
    private readonly store: Store,
    private readonly userId: string,
    private readonly onChange: (userId: string, change: MemberChange) => void,
  ) {}

  /** Begin with those who are there. */
  enter(place: Place): void {
    this.members = this.membersOf(place);
  }

  /** Tell of those who have come and gone since. */
  follow(place: Place): void {
    const states = this.store.state.voiceStates[place.guildId];
    if (states === this.seen) {
      return;
    }
    this.seen = states;
    const before = this.members;
    const members = (this.members = this.membersOf(place));
    const without = (set: ReadonlySet<string>, other: ReadonlySet<string>) =>
      [...set].filter((each) => !other.has(each));
    without(members, before).forEach((userId) => this.onChange(userId, "joined"));
    without(before, members).forEach((userId) => this.onChange(userId, "left"));
  }

  private membersOf({ guildId, channelId }: Place): ReadonlySet<string> {
    const states = voiceStatesIn(this.store.state, guildId, channelId);
    return new Set(states.map((each) => each.user_id).filter((id) => id !== this.userId));
  }
}
