import { appIconUrl } from "../../api/images";
import { Avatar } from "../../ui/controls";
import type { CommandLeaf } from "./options";

export function ApplicationIcon({ leaf, size }: { leaf: CommandLeaf | undefined; size: number }) {
  const application = leaf?.application;
  return application === undefined ? null : (
    <Avatar
      url={appIconUrl(application.id, application.icon, size)}
      name={application.name}
      size={size}
      tile
    />
  );
}
