import { X } from "lucide-react";

import { Translate, useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { dismissLoss, useLostGuilds } from "./lost";

/** Tells users that they are no longer in a guild. The API does not say why. */
export function LostGuilds() {
  const text = useText();
  const guilds = useLostGuilds();
  return (
    <div className="lost-guilds" role="status">
      {guilds.map(({ id, name }) => (
        <p key={id} className="lost-guild">
          <span>
            <Translate id="guild.lost" values={{ name: <strong dir="auto">{name}</strong> }} />
          </span>
          <IconButton label={text("guild.lost.dismiss", { name })} onPress={() => dismissLoss(id)}>
            <X size={16} />
          </IconButton>
        </p>
      ))}
    </div>
  );
}
