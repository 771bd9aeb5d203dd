import type { APIMessage } from "discord-api-types/v10";
import { ExternalLink as LinkIcon, FileText } from "lucide-react";
import type { ReactNode } from "react";

import { ComponentType } from "../../api/enums";
import { createComponentInteraction } from "../../api/interactions";
import { makeNonce } from "../../api/nonce";
import { useText } from "../../i18n/translate";
import { isDeceptive } from "../../markdown/deception";
import { visible } from "../../markdown/invisible";
import { safeUrl } from "../../markdown/urls";
import { addInteraction } from "../../store/interactions";
import { guildIdOf } from "../../store/channels";
import { Button } from "../../ui/controls";
import { Content } from "../content/Content";
import { Guarded } from "../content/Undrawable";
import { ExternalLink } from "../links/ExternalLink";
import { useAppState, useSession } from "../session/session";
import { Emoji } from "./Emoji";
import { defaultValues } from "./fields";
import { SelectMenu } from "./SelectMenu";
import { Gallery, Hidden, Image } from "./Media";
import type { Component } from "./types";
import "./components.css";

const LINK_STYLE = 5;
/** The API knows four levels: a container, sections, rows and what they hold. */
const MAX_DEPTH = 6;
const BUTTON_KINDS = ["plain", "primary", "plain", "primary", "danger"] as const;

/** The components of a message, in rows or as a whole layout. */
export function Components({ message, guildId }: { message: APIMessage; guildId: string | null }) {
  const text = useText();
  const components = (message.components ?? []) as unknown as Component[];
  const status = useAppState((state) => {
    const own = Object.values(state.interactions).filter((each) => each.target.startsWith(`${message.id} `));
    return own.some((each) => each.failed) ? "failed" : own.length > 0 ? "pending" : null;
  });
  if (components.length === 0) {
    return null;
  }
  return (
    <div className="components">
      {components.map((component, index) => (
        <Guarded key={component.id ?? index}>
          <Layout component={component} message={message} guildId={guildId} />
        </Guarded>
      ))}
      {status !== null && (
        <p role="status" className={status === "failed" ? "field-error" : "field-hint"}>
          {text(status === "failed" ? "component.failed" : "component.pending")}
        </p>
      )}
    </div>
  );
}

interface ComponentProps {
  component: Component;
  message: APIMessage;
  guildId: string | null;
}

function Layout({ component, message, guildId, depth = 0 }: ComponentProps & { depth?: number }): ReactNode {
  if (depth > MAX_DEPTH) {
    return null;
  }
  const children = (component.components ?? []).map((child, index) => (
    <Layout key={child.id ?? index} component={child} message={message} guildId={guildId} depth={depth + 1} />
  ));
  switch (component.type) {
    case ComponentType.ActionRow:
      return <div className="component-row">{children}</div>;
    case ComponentType.Button:
      return <ButtonComponent component={component} message={message} guildId={guildId} />;
    case ComponentType.StringSelect:
    case ComponentType.UserSelect:
    case ComponentType.RoleSelect:
    case ComponentType.MentionableSelect:
    case ComponentType.ChannelSelect:
      return <SelectComponent component={component} message={message} guildId={guildId} />;
    case ComponentType.TextDisplay:
      return <Content content={component.content ?? ""} guildId={guildId} />;
    case ComponentType.Section:
      return (
        <div className="component-section">
          <div className="component-section-texts">{children}</div>
          {component.accessory && (
            <Layout component={component.accessory} message={message} guildId={guildId} depth={depth + 1} />
          )}
        </div>
      );
    case ComponentType.Thumbnail:
      return (
        <Hidden spoiler={component.spoiler}>
          <Image media={component.media} alt={component.description ?? ""} className="component-thumbnail" />
        </Hidden>
      );
    case ComponentType.MediaGallery:
      return <Gallery items={component.items ?? []} />;
    case ComponentType.File:
      return (
        <Hidden spoiler={component.spoiler}>
          <a
            className="attachment-file"
            href={safeUrl(component.file?.url ?? "") ?? undefined}
            target="_blank"
            rel="noopener noreferrer"
          >
            <FileText size={24} aria-hidden="true" /> {visible(component.name ?? "")}
          </a>
        </Hidden>
      );
    case ComponentType.Separator:
      return (
        <div
          role="separator"
          className={component.divider === false ? "component-space" : "component-divider"}
          data-large={component.spacing === 2}
        />
      );
    case ComponentType.Container:
      return (
        <Hidden spoiler={component.spoiler}>
          <div
            className="component-container"
            style={
              component.accent_color
                ? { borderInlineStartColor: hexColor(component.accent_color) }
                : undefined
            }
          >
            {children}
          </div>
        </Hidden>
      );
    default:
      return null;
  }
}

/** Sends an interaction with a component of a message. */
function useInteraction(message: APIMessage, component: Component): (values?: readonly string[]) => void {
  const { api, store } = useSession();
  return (values) => {
    const nonce = makeNonce();
    const { state } = store;
    const channel = state.channels[message.channel_id];
    const source = {
      applicationId: message.application_id ?? message.author.id,
      guildId: channel === undefined ? null : guildIdOf(channel),
      channelId: message.channel_id,
      sessionId: state.sessionId,
      nonce,
    };
    const customId = component.custom_id ?? "";
    store.update((current) => addInteraction(current, nonce, `${message.id} ${customId}`));
    createComponentInteraction(
      api,
      source,
      { id: message.id, flags: message.flags ?? 0 },
      { type: component.type, customId, ...(values && { values }) },
    ).catch(() => store.dispatch("INTERACTION_FAILURE", { nonce }));
  };
}

function ButtonComponent({ component, message }: ComponentProps) {
  const send = useInteraction(message, component);
  const label = (
    <>
      <Emoji emoji={component.emoji} />
      {visible(component.label ?? "")}
    </>
  );
  const url = component.style === LINK_STYLE ? safeUrl(component.url ?? "") : null;
  if (url !== null) {
    const isHonest = !component.label || !isDeceptive(component.label, url);
    return (
      <ExternalLink url={url} className="button button-plain">
        {isHonest ? label : url} <LinkIcon size={14} aria-hidden="true" />
      </ExternalLink>
    );
  }
  return (
    <Button
      kind={BUTTON_KINDS[component.style ?? 0] ?? "plain"}
      isDisabled={component.disabled === true || component.custom_id === undefined}
      onPress={() => send()}
    >
      {label}
    </Button>
  );
}

function SelectComponent({ component, message, guildId }: ComponentProps) {
  const send = useInteraction(message, component);
  // An edited message may bring other defaults.
  const defaults = defaultValues(component).join(" ");
  return <SelectMenu key={defaults} component={component} guildId={guildId} onChoose={send} />;
}

function hexColor(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}
