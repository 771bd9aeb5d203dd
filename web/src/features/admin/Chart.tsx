interface ChartProps {
  title: string;
  /** The newest value as text. */
  value: string;
  /** The values of the hours or days, oldest first; null where nothing was stored. */
  points: readonly (number | null)[];
}

const WIDTH = 240;
const HEIGHT = 56;
/** A new server has few values: they stand at the right, as narrow as those of a day. */
const MIN_PLACES = 24;

/** Bars of one figure over time. A table beside it has the numbers, so screen readers pass over the picture. */
export function Chart({ title, value, points }: ChartProps) {
  const top = Math.max(...points.map((point) => point ?? 0), 0);
  const places = Math.max(points.length, MIN_PLACES);
  const step = WIDTH / places;
  return (
    <figure className="admin-chart">
      <figcaption>
        <span>{title}</span>
        <strong>{value}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {points.map((point, index) => {
          const height =
            top === 0 || point === null ? 0 : Math.max((point / top) * HEIGHT, point > 0 ? 1 : 0);
          return (
            <rect
              // The place in time is all that tells bars apart.
              key={index}
              x={(places - points.length + index) * step + step * 0.1}
              y={HEIGHT - height}
              width={step * 0.8}
              height={height}
            />
          );
        })}
      </svg>
    </figure>
  );
}
