import { useQuery } from "@tanstack/react-query";
import { Navigate, useNavigate, type LinkProps } from "@tanstack/react-router";

import { getCurrentOperator } from "../../api/admin";
import type { Part } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { returnPath } from "../shell/returnPath";
import { SettingsFrame, SettingsScreen, SettingsSkeleton, showsBoth } from "../shell/SettingsFrame";
import { SECTIONS } from "./sections";
import "./admin.css";

const PARTS: readonly Part[] = ["admin"];

/** The pages of operators: a list of those that the user may see, and the open one. */
export default function Admin(props: { sectionId: string | null }) {
  return (
    <SettingsScreen parts={PARTS}>
      <Frame {...props} />
    </SettingsScreen>
  );
}

function linkTo(sectionId: string | undefined): LinkProps {
  return { to: "/admin/{-$sectionId}", params: { sectionId } };
}

function Frame({ sectionId }: { sectionId: string | null }) {
  const text = useText();
  const navigate = useNavigate();
  const { api, account } = useSession();
  const operator = useQuery({
    queryKey: [account.userId, "admin", "operator"],
    queryFn: () => getCurrentOperator(api),
    retry: false,
  });
  if (operator.data === undefined) {
    return (
      <main id="main" className="main admin-closed" aria-busy={operator.isPending}>
        {operator.isError && (
          <>
            <h1>{text("admin.closed")}</h1>
            <ErrorNotice error={operator.error} />
          </>
        )}
      </main>
    );
  }
  const { permissions } = operator.data;
  const sections = SECTIONS.filter(
    ({ permission }) => permission === null || [permission].flat().some((each) => permissions.includes(each)),
  );
  const current = sections.find(({ id }) => id === sectionId) ?? null;
  if (current === null && (showsBoth() || sectionId !== null)) {
    return <Navigate {...linkTo("overview")} replace />;
  }
  return (
    <SettingsFrame
      label={text("admin.title")}
      title={text("admin.title")}
      closeLabel={text("admin.close")}
      onClose={() => void navigate({ to: returnPath() })}
      groups={[{ title: "admin.group", sections }]}
      linkTo={linkTo}
      current={current}
      back={linkTo(undefined)}
      contentKey={current?.id ?? ""}
    >
      {current !== null && <current.View fallback={<SettingsSkeleton />} />}
    </SettingsFrame>
  );
}
