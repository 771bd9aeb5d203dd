import type { FigureSample, Span } from "../../api/operations";

const MS: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 };

/** The samples with a gap for each hour or day between them of which there is none. */
export function filled(samples: readonly FigureSample[], span: Span): (FigureSample | null)[] {
  const slots: (FigureSample | null)[] = [];
  let next: number | null = null;
  for (const sample of samples) {
    const start = Date.parse(sample.start);
    while (next !== null && next < start) {
      slots.push(null);
      next += MS[span];
    }
    slots.push(sample);
    next = start + MS[span];
  }
  return slots;
}
