import { useEffect, useState } from "react";

import { getVoiceRegions } from "../../api/channels";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { NumberField } from "../../ui/NumberField";
import { Select } from "../../ui/Select";
import { useSession } from "../session/session";
import { fieldError } from "../session/useAction";
import { valueOf, type ChannelFieldsProps } from "./fields";

const FULL_QUALITY = 2;

/** The settings of voice and stage channels. */
export function VoiceFields({ channel, draft, error, onChange }: ChannelFieldsProps) {
  const text = useText();
  const { api } = useSession();
  const guildId = guildIdOf(channel) ?? "";
  const [regions, setRegions] = useState<readonly (readonly [string, string])[]>([]);
  useEffect(() => {
    getVoiceRegions(api, guildId).then(
      (loaded) => setRegions(loaded.map((region) => [region.id, region.name])),
      () => undefined,
    );
  }, [api, guildId]);
  const region = valueOf(channel, draft, "rtc_region") ?? "";
  return (
    <>
      <NumberField
        label={text("channel.bitrate")}
        value={Math.round((valueOf(channel, draft, "bitrate") ?? 64_000) / 1000)}
        min={8}
        max={384}
        error={fieldError(error, "bitrate")}
        onChange={(kilobits) => onChange({ bitrate: kilobits * 1000 })}
      />
      <NumberField
        label={text("channel.userLimit")}
        hint={text("channel.userLimit.hint")}
        value={valueOf(channel, draft, "user_limit") ?? 0}
        min={0}
        max={10_000}
        error={fieldError(error, "user_limit")}
        onChange={(limit) => onChange({ user_limit: limit })}
      />
      <Select
        label={text("channel.region")}
        value={region}
        options={[
          ["", text("channel.region.automatic")],
          ...regions,
          ...(region === "" || regions.some(([id]) => id === region) ? [] : [[region, region] as const]),
        ]}
        onChange={(id) => onChange({ rtc_region: id === "" ? null : id })}
      />
      <Select
        label={text("channel.videoQuality")}
        value={valueOf(channel, draft, "video_quality_mode") === FULL_QUALITY ? "2" : "1"}
        options={[
          ["1", text("channel.videoQuality.automatic")],
          ["2", text("channel.videoQuality.full")],
        ]}
        onChange={(mode) => onChange({ video_quality_mode: Number(mode) })}
      />
    </>
  );
}
