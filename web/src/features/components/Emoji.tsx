import { emojiUrl } from "../../api/images";
import type { Component } from "./types";

/** The emoji of a button or option. */
export function Emoji({ emoji }: { emoji: Component["emoji"] }) {
  if (emoji?.id) {
    return <img src={emojiUrl(emoji.id, 20)} alt={emoji.name ?? ""} width={20} height={20} />;
  }
  return emoji?.name ? <span aria-hidden="true">{emoji.name}</span> : null;
}
