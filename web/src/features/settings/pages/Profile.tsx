import type { APIUser } from "discord-api-types/v10";
import { useState, type CSSProperties } from "react";

import { modifyCurrentUser } from "../../../api/accounts";
import { avatarUrl, bannerUrl } from "../../../api/images";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { hueOf } from "../../../ui/hues";
import { TextField } from "../../../ui/TextField";
import { ImageField } from "../../../ui/fields";
import { ColorField } from "../../../ui/ColorField";
import { useAppState, useSession } from "../../session/session";
import { fieldError } from "../../session/useAction";
import { SettingsForm } from "../SettingsForm";

const DEFAULT_COLOR = 0xae4011;

/** How others see the user. */
export default function Profile() {
  const user = useAppState((state) => state.user);
  return user && <ProfileForm user={user} />;
}

/** A picture that was chosen, or removed by null; undefined leaves it as it is. */
type NewImage = string | null | undefined;

function ProfileForm({ user }: { user: APIUser & { bio?: string } }) {
  const text = useText();
  const { api, store } = useSession();
  const [globalName, setGlobalName] = useState(user.global_name ?? "");
  const [bio, setBio] = useState(user.bio ?? "");
  const [color, setColor] = useState(user.accent_color ?? null);
  const [avatar, setAvatar] = useState<NewImage>(undefined);
  const [banner, setBanner] = useState<NewImage>(undefined);
  const save = async () => {
    const saved = await modifyCurrentUser(api, {
      global_name: globalName.trim() === "" ? null : globalName.trim(),
      bio,
      accent_color: color,
      ...(avatar !== undefined && { avatar }),
      ...(banner !== undefined && { banner }),
    });
    store.dispatch("USER_UPDATE", saved);
    setAvatar(undefined);
    setBanner(undefined);
  };
  const avatarShown = avatar === undefined ? avatarUrl(user, 80) : avatar;
  const bannerShown = banner === undefined ? bannerUrl(user.id, user.banner ?? null, 600) : banner;
  const shownName = globalName.trim() === "" ? user.username : globalName;
  const isDirty =
    globalName !== (user.global_name ?? "") ||
    bio !== (user.bio ?? "") ||
    color !== (user.accent_color ?? null) ||
    avatar !== undefined ||
    banner !== undefined;
  const style = color === null ? undefined : ({ "--profile-accent": hex(color) } as CSSProperties);
  return (
    <SettingsForm onSave={save} isDirty={isDirty}>
      {({ error }) => (
        <>
          <div
            className="profile-preview"
            style={style}
            data-hue={hueOf(user.id)}
            aria-label={text("settings.profile.preview")}
            role="group"
          >
            <div className="profile-banner">{bannerShown !== null && <img src={bannerShown} alt="" />}</div>
            <div className="profile-card">
              <Avatar url={avatarShown} name={shownName} size={80} hueKey={user.id} />
              <strong>{shownName}</strong>
              <span className="field-hint">{user.username}</span>
              {bio !== "" && (
                <span className="profile-bio" dir="auto">
                  {bio}
                </span>
              )}
            </div>
          </div>
          <TextField
            label={text("settings.globalName")}
            value={globalName}
            onChange={setGlobalName}
            maxLength={32}
            error={fieldError(error, "global_name")}
          />
          <TextField
            label={text("settings.bio")}
            hint={text("settings.bio.left", { count: 190 - Array.from(bio).length })}
            value={bio}
            onChange={setBio}
            multiline
            error={fieldError(error, "bio")}
          />
          <ImageField
            label={text("settings.avatar")}
            shape="round"
            crops
            url={avatarShown}
            onChange={setAvatar}
            error={fieldError(error, "avatar")}
          />
          <ImageField
            label={text("settings.banner")}
            shape="wide"
            url={bannerShown}
            onChange={setBanner}
            error={fieldError(error, "banner")}
          />
          <ColorField
            label={text("settings.accentColor")}
            value={color ?? DEFAULT_COLOR}
            onChange={setColor}
            error={fieldError(error, "accent_color")}
          />
          {color !== null && (
            <div>
              <Button onPress={() => setColor(null)}>{text("settings.accentColor.remove")}</Button>
            </div>
          )}
        </>
      )}
    </SettingsForm>
  );
}

function hex(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}
