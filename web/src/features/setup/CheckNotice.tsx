import type { ServiceCheck } from "../../api/admin";

interface CheckNoticeProps {
  check: ServiceCheck | null;
  good: (answer: string) => string;
  bad: (problem: string) => string;
}

/** Says whether what was tried works, and what is wrong with it. */
export function CheckNotice({ check, good, bad }: CheckNoticeProps) {
  if (check === null) {
    return null;
  }
  return check.ok ? (
    <p role="status" className="notice">
      {good(check.answer ?? "")}
    </p>
  ) : (
    <p role="alert" className="notice notice-danger">
      {bad(check.problem ?? "")}
    </p>
  );
}
