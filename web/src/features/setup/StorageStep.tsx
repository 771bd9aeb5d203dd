import { useQuery } from "@tanstack/react-query";
import { useIntl } from "react-intl";

import { checkStorage } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { NumberField } from "../../ui/NumberField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { CheckNotice } from "./CheckNotice";
import { useDraft } from "./draft";
import { useSaveSettings, valueOf, type StepProps } from "./settings";
import { StepForm } from "./StepForm";

const GIGABYTE = 1_000_000_000;
const MAX = 1_000_000_000;

/** Where files are stored, whether that works, and how much of it each user may take. */
export default function StorageStep({ settings, onDone }: StepProps) {
  const text = useText();
  const intl = useIntl();
  const { api, account } = useSession();
  const save = useSaveSettings();
  const action = useAction();
  const check = useQuery({
    queryKey: [account.userId, "setup", "storage"],
    queryFn: () => checkStorage(api),
    retry: false,
    staleTime: 0,
  });
  const draft = useDraft("storage", { quota: valueOf(settings, "storage_quota_mb_per_user", 0) });
  const submit = async () => {
    await save({ storage_quota_mb_per_user: draft.value.quota });
    draft.clear();
    onDone();
  };
  const free = check.data?.free_bytes ?? null;
  return (
    <StepForm
      about={text("setup.storage.about")}
      action={action}
      isDirty={draft.isDirty}
      shown={["storage_quota_mb_per_user"]}
      onSave={submit}
      onSkip={onDone}
    >
      <ErrorNotice error={check.error} />
      {check.data !== undefined && (
        <>
          <p>
            {text("setup.storage.where")} <code dir="ltr">{check.data.where}</code>
          </p>
          <CheckNotice
            check={check.data}
            good={() =>
              free === null
                ? text("setup.storage.works")
                : text("setup.storage.free", {
                    free: intl.formatNumber(free / GIGABYTE, {
                      style: "unit",
                      unit: "gigabyte",
                      maximumFractionDigits: 1,
                    }),
                  })
            }
            bad={(problem) => text("setup.storage.failed", { problem })}
          />
        </>
      )}
      <NumberField
        label={text("admin.setting.storage_quota_mb_per_user")}
        value={draft.value.quota}
        min={0}
        max={MAX}
        onChange={(typed) => draft.set("quota", typed)}
        error={fieldError(action.error, "storage_quota_mb_per_user")}
      />
    </StepForm>
  );
}
