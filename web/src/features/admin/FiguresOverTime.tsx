import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useIntl } from "react-intl";

import { listFigures, type FigureSample, type Span } from "../../api/operations";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { Chart } from "./Chart";
import { filled } from "./figures";

const SPANS = ["hour", "day"] as const;
const LIMITS: Readonly<Record<Span, number>> = { hour: 48, day: 90 };
const MEGABYTE = 1_000_000;
type Name = Exclude<keyof FigureSample, "start">;
const CHARTS: readonly (readonly [Name, MessageId])[] = [
  ["users", "admin.figure.users"],
  ["messages", "admin.figure.messages"],
  ["file_bytes", "admin.figure.file_bytes"],
  ["requests", "admin.figure.requests"],
  ["errors", "admin.figure.errors"],
  ["median_ms", "admin.figure.median_ms"],
  ["p99_ms", "admin.figure.p99_ms"],
];

/** Figures of the last hours or days: as small charts, and as a table. */
export function FiguresOverTime() {
  const text = useText();
  const intl = useIntl();
  const { api, account } = useSession();
  const [span, setSpan] = useState<Span>("hour");
  const { data, error } = useQuery({
    queryKey: [account.userId, "admin", "figures", span],
    queryFn: () => listFigures(api, span, LIMITS[span]),
    retry: false,
    staleTime: 0,
  });
  const shown = (name: Name, value: number | null) => {
    if (value === null) {
      return "–";
    }
    if (name === "file_bytes") {
      const options = { style: "unit", unit: "megabyte", maximumFractionDigits: 1 } as const;
      return intl.formatNumber(value / MEGABYTE, options);
    }
    return name === "median_ms" || name === "p99_ms"
      ? intl.formatNumber(value, { style: "unit", unit: "millisecond", maximumFractionDigits: 1 })
      : intl.formatNumber(value);
  };
  const moment = (start: string) =>
    span === "hour"
      ? intl.formatDate(start, { dateStyle: "short", timeStyle: "short" })
      : intl.formatDate(start, { dateStyle: "medium", timeZone: "UTC" });
  const samples = data ?? [];
  const slots = filled(samples, span);
  return (
    <section className="admin-over-time" aria-labelledby="admin-over-time">
      <div className="admin-bar">
        <h2 id="admin-over-time">{text("admin.figures")}</h2>
        <Select
          label={text("admin.figures.span")}
          value={span}
          options={SPANS.map((each) => [each, text(`admin.figures.span.${each}`)] as const)}
          onChange={setSpan}
        />
      </div>
      <ErrorNotice error={error} />
      <div className="admin-charts">
        {CHARTS.map(([name, label]) => (
          <Chart
            key={name}
            title={text(label)}
            value={shown(name, samples.at(-1)?.[name] ?? null)}
            points={slots.map((sample) => sample?.[name] ?? null)}
          />
        ))}
      </div>
      <details>
        <summary>{text("admin.figures.table")}</summary>
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled with the keyboard */}
        <div className="admin-scroll" tabIndex={0} role="region" aria-label={text("admin.figures.numbers")}>
          <table className="admin-numbers">
            <thead>
              <tr>
                <th scope="col">{text("admin.figures.start")}</th>
                {CHARTS.map(([name, label]) => (
                  <th key={name} scope="col">
                    {text(label)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {samples.toReversed().map((sample) => (
                <tr key={sample.start}>
                  <th scope="row">{moment(sample.start)}</th>
                  {CHARTS.map(([name]) => (
                    <td key={name}>{shown(name, sample[name])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
