import { ApiError } from "../../api/errors";
import { useText } from "../../i18n/translate";
import { useErrorText } from "./useAction";

interface ErrorNoticeProps {
  /** Why a request failed; null and undefined show nothing. */
  error: unknown;
  /** The paths of the fields that show their own errors. */
  shown?: readonly string[] | undefined;
}

/** Says why a request failed, without what its fields show already. */
export function ErrorNotice({ error, shown }: ErrorNoticeProps) {
  const text = useText();
  const errorText = useErrorText();
  if (error === null || error === undefined) {
    return null;
  }
  const isShown = (path: string) =>
    shown?.some((field) => path === field || path.startsWith(`${field}.`)) === true;
  const others =
    shown !== undefined && error instanceof ApiError && error.fields.length > 0
      ? error.fields.filter(({ path }) => !isShown(path))
      : null;
  return (
    <div role="alert" className="notice notice-danger">
      {others === null && errorText(error)}
      {others?.length === 0 && text("error.refused")}
      {others?.map(({ path, message }) => (
        <p key={path}>
          {path === "" ? "" : `${path}: `}
          {message}
        </p>
      ))}
    </div>
  );
}
