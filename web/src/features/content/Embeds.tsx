import type { APIEmbed, APIEmbedVideo } from "discord-api-types/v10";
import { Play } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { FormattedDate } from "react-intl";
import { Button as AriaButton } from "react-aria-components";

import { EmbedType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { isDeceptive } from "../../markdown/deception";
import { visible } from "../../markdown/invisible";
import { safeUrl } from "../../markdown/urls";
import { spoilerLinks } from "../../markdown/spoilers";
import { fit, isOwnUrl, scaled, type Size } from "../media/media";
import { ExternalLink } from "../links/ExternalLink";
import { Content } from "./Content";
import { Guarded } from "./Undrawable";
import "./embeds.css";

interface EmbedsProps {
  embeds: readonly APIEmbed[];
  guildId: string | null;
  /** The text of the message: previews of links in its spoilers are covered. */
  content?: string;
}

interface EmbedProps {
  embed: APIEmbed;
  guildId: string | null;
}

const THUMBNAIL = 80;

/** Embeds and link previews. Their images and videos come from this server's proxy; others are not shown. */
export function Embeds({ embeds, guildId, content = "" }: EmbedsProps) {
  const hidden = useMemo(() => (embeds.length > 0 ? spoilerLinks(content) : new Set()), [embeds, content]);
  return embeds.map((embed, index) => (
    <Covered key={index} covered={embed.url !== undefined && hidden.has(embed.url)}>
      <Guarded>
        <Embed embed={embed} guildId={guildId} />
      </Guarded>
    </Covered>
  ));
}

/** A spoiler, which the reader reveals. */
function Covered({ covered, children }: { covered: boolean; children: ReactNode }) {
  const [revealed, setRevealed] = useState(false);
  const text = useText();
  if (!covered || revealed) {
    return children;
  }
  return (
    <AriaButton className="attachment-spoiler embed-spoiler" onPress={() => setRevealed(true)}>
      {text("message.spoiler")}
    </AriaButton>
  );
}

function Embed({ embed, guildId }: EmbedProps) {
  const type: string | undefined = embed.type;
  if (type === EmbedType.Image && isOwnUrl(embed.thumbnail?.proxy_url)) {
    return (
      <EmbedLink embed={embed} className="embed-alone">
        <LargeImage image={embed.thumbnail} alt={embed.url ?? ""} />
      </EmbedLink>
    );
  }
  if (type === EmbedType.GIFV && isOwnUrl(embed.video?.proxy_url)) {
    return <Animation video={embed.video} label={embed.title ?? embed.url ?? ""} />;
  }
  if (type === EmbedType.Video && embed.title === undefined && isOwnUrl(embed.video?.proxy_url)) {
    return <VideoPlayer embed={embed} className="embed-alone" />;
  }
  return <Card embed={embed} guildId={guildId} />;
}

function Card({ embed, guildId }: EmbedProps) {
  const color = embed.color === undefined ? undefined : `#${embed.color.toString(16).padStart(6, "0")}`;
  const type: string | undefined = embed.type;
  const preview = type !== undefined && (type !== EmbedType.Rich || embed.provider !== undefined);
  const large = type === EmbedType.Article || type === EmbedType.Video;
  return (
    <div className="embed" style={color === undefined ? undefined : { borderInlineStartColor: color }}>
      <div className="embed-body">
        {embed.provider?.name !== undefined && (
          <p className="embed-provider" dir="auto">
            {visible(embed.provider.name)}
          </p>
        )}
        {embed.author && (
          <p className="embed-author">
            <SmallImage image={embed.author.proxy_icon_url} size={20} alt="" />
            <MaybeLink url={embed.author.url} label={embed.author.name} />
          </p>
        )}
        {embed.title !== undefined && (
          <div className="embed-title" dir="auto">
            {preview || embed.url !== undefined ? (
              <MaybeLink url={embed.url} label={embed.title} />
            ) : (
              <Content content={embed.title} guildId={guildId} />
            )}
          </div>
        )}
        {embed.description !== undefined &&
          // What a page says about itself has no markup, and mentions no one.
          (preview ? (
            <p dir="auto">{visible(embed.description)}</p>
          ) : (
            <Content content={embed.description} guildId={guildId} />
          ))}
        {embed.fields && embed.fields.length > 0 && (
          <dl className="embed-fields">
            {embed.fields.map((field, index) => (
              <div key={index} className={field.inline ? "embed-field" : "embed-field embed-field-wide"}>
                <dt dir="auto">{visible(field.name)}</dt>
                <dd>
                  <Content content={field.value} guildId={guildId} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        <LargeImage image={embed.image} alt={embed.image?.description ?? ""} />
        {large && <CardMedia embed={embed} />}
        {(embed.footer ?? embed.timestamp) && (
          <p className="embed-footer">
            <bdi>{visible(embed.footer?.text ?? "")}</bdi>
            {embed.footer && embed.timestamp && " • "}
            {embed.timestamp && (
              <time dateTime={embed.timestamp}>
                <FormattedDate value={embed.timestamp} dateStyle="short" timeStyle="short" />
              </time>
            )}
          </p>
        )}
      </div>
      {!large && (
        <SmallImage
          image={embed.thumbnail?.proxy_url}
          size={THUMBNAIL}
          alt={embed.thumbnail?.description ?? ""}
        />
      )}
    </div>
  );
}

/** The picture of an article, or of a video: one that this server passes on plays here, others at their site. */
function CardMedia({ embed }: { embed: APIEmbed }) {
  const text = useText();
  if (isOwnUrl(embed.video?.proxy_url)) {
    return <VideoPlayer embed={embed} />;
  }
  if (!isOwnUrl(embed.thumbnail?.proxy_url)) {
    return null;
  }
  const isVideo = embed.video !== undefined;
  return (
    <EmbedLink embed={embed} className="embed-media" label={isVideo ? text("message.playVideo") : undefined}>
      <LargeImage image={embed.thumbnail} alt="" />
      {isVideo && (
        <span className="embed-play">
          <Play size={28} aria-hidden="true" />
        </span>
      )}
    </EmbedLink>
  );
}

function VideoPlayer({ embed, className }: { embed: APIEmbed; className?: string }) {
  const poster = embed.thumbnail?.proxy_url;
  const size = sizeOf(embed.video);
  return (
    // eslint-disable-next-line jsx-a11y/media-has-caption -- videos of other sites have no captions
    <video
      className={`embed-video ${className ?? ""}`}
      controls
      preload="none"
      src={embed.video?.proxy_url}
      {...(isOwnUrl(poster) && { poster })}
      {...size}
      aria-label={embed.title ?? embed.url ?? ""}
    />
  );
}

/** A short video without sound that repeats, unless the reader wants less motion. */
function Animation({ video, label }: { video: APIEmbedVideo | undefined; label: string }) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return (
    <video
      className="embed-alone"
      src={video?.proxy_url}
      muted
      loop
      playsInline
      autoPlay={!still}
      controls={still}
      aria-label={label}
      {...sizeOf(video)}
    />
  );
}

interface ImageFields {
  proxy_url?: string;
  width?: number;
  height?: number;
}

function LargeImage({ image, alt }: { image: ImageFields | undefined; alt: string }) {
  const url = image?.proxy_url;
  if (!isOwnUrl(url)) {
    return null;
  }
  const size = sizeOf(image);
  return (
    <img
      className="embed-image"
      src={size === undefined ? url : scaled(url, size)}
      alt={alt}
      {...size}
      loading="lazy"
    />
  );
}

function SmallImage({ image, size, alt }: { image: string | undefined; size: number; alt: string }) {
  if (!isOwnUrl(image)) {
    return null;
  }
  const square = { width: size, height: size };
  return <img className="embed-thumbnail" src={scaled(image, square)} alt={alt} {...square} loading="lazy" />;
}

function EmbedLink(props: {
  embed: APIEmbed;
  className: string;
  label?: string | undefined;
  children: ReactNode;
}) {
  const url = props.embed.url === undefined ? null : safeUrl(props.embed.url);
  return url === null ? (
    <span className={props.className}>{props.children}</span>
  ) : (
    <ExternalLink url={url} className={props.className} label={props.label}>
      {props.children}
    </ExternalLink>
  );
}

/** A text of an embed, as a link if it has an address. One that looks like another address does not hide its own. */
function MaybeLink({ url, label }: { url: string | undefined; label: string }) {
  const safe = url === undefined ? null : safeUrl(url);
  const shown = <bdi>{visible(label)}</bdi>;
  if (safe === null) {
    return shown;
  }
  if (isDeceptive(label, safe)) {
    return (
      <>
        {shown} (<ExternalLink url={safe}>{safe}</ExternalLink>)
      </>
    );
  }
  return <ExternalLink url={safe}>{shown}</ExternalLink>;
}

function sizeOf(media: ImageFields | undefined): Size | undefined {
  return media?.width && media.height ? fit(media.width, media.height) : undefined;
}
