/** A number of bytes in the largest unit that fits. */
export function formatSize(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const unit = units[power] ?? "byte";
  // "44 bytes", but "1.5 kB": the short form of the smallest unit is its name, and has no plural.
  const unitDisplay = unit === "byte" ? "long" : "short";
  return new Intl.NumberFormat(undefined, {
    style: "unit",
    unit,
    unitDisplay,
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power);
}
