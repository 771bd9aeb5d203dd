import { getDiscoveryMetadata, modifyDiscoveryMetadata, type DiscoveryMetadata } from "../../api/discovery";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { TagsField } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { CATEGORIES } from "../discovery/categories";
import { useSession } from "../session/session";
import { useForm } from "../session/useForm";
import { FormFrame } from "./Form";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";

const PARTS: readonly Part[] = ["discovery"];
const KEYWORDS_MAX = 10;
const KEYWORD_MAX = 30;

/** What people find the guild by in the list of public ones. */
export default function Discovery({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "discovery", getDiscoveryMetadata);
  return (
    <WithTexts parts={PARTS}>
      <Loaded query={query}>
        {(metadata) => <DiscoveryForm guild={guild} metadata={metadata} onChange={() => query.refetch()} />}
      </Loaded>
    </WithTexts>
  );
}

interface DiscoveryFormProps {
  guild: GuildState;
  metadata: DiscoveryMetadata;
  onChange: () => Promise<unknown>;
}

function DiscoveryForm({ guild, metadata, onChange }: DiscoveryFormProps) {
  const text = useText();
  const { api } = useSession();
  const initial = { primary_category_id: metadata.primary_category_id, keywords: metadata.keywords };
  const form = useForm(initial, async (changes) => {
    await modifyDiscoveryMetadata(api, guild.id, changes);
    await onChange();
  });
  return (
    <FormFrame form={form} shown={["primary_category_id", "keywords"]}>
      <p className="field-hint">{text("discovery.settings.hint")}</p>
      {!metadata.is_published && <p className="notice">{text("discovery.settings.unpublished")}</p>}
      <Select
        label={text("discovery.category")}
        value={String(form.value.primary_category_id)}
        options={CATEGORIES.map((id) => [String(id), text(`discovery.category.${id}`)] as const)}
        onChange={(id) => form.set("primary_category_id", Number(id))}
        error={form.errorOf("primary_category_id")}
      />
      <TagsField
        label={text("discovery.keywords")}
        hint={text("discovery.settings.keywords.hint")}
        value={form.value.keywords}
        onChange={(keywords) => form.set("keywords", keywords)}
        max={KEYWORDS_MAX}
        maxLength={KEYWORD_MAX}
        error={form.errorOf("keywords")}
      />
    </FormFrame>
  );
}
